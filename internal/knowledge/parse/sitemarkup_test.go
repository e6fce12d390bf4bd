package parse_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// read gives the blocks of a Markdown page, an empty line between them.
func read(t *testing.T, source string) string {
	t.Helper()
	text, err := parse.Parse(context.Background(), parse.Markdown, "page.mdx", []byte(source), parse.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, section := range text.Sections {
		if section.Heading != "" {
			blocks = append(blocks, "# "+section.Heading)
		}
		for _, block := range section.Blocks {
			blocks = append(blocks, block.Text)
		}
	}
	return strings.Join(blocks, "\n\n")
}

func TestSiteMarkupIsResolved(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"a note of Hugo", "{{< note >}}\nKeep the **key**.\n{{< /note >}}\n\nMore.", "Note:\n\nKeep the key.\n\nMore."},
		{"an alert with a title", "{{% alert title=\"Mind the gap\" color=\"warning\" %}}\nIt is wide.\n{{% /alert %}}", "Mind the gap:\n\nIt is wide."},
		{"a hint with its kind as a word", "{{< hint danger >}}\nHot.\n{{< /hint >}}", "Danger:\n\nHot."},
		{"a tooltip", "A {{< glossary_tooltip text=\"pod\" term_id=\"pod\" >}} runs on a {{<glossary_tooltip term_id=\"worker-node\">}}.", "A pod runs on a worker node."},
		{"a shortcode over lines", "A {{< glossary_tooltip\n   text=\"pod\"\n   term_id=\"pod\" >}}.", "A pod."},
		{"tabs of Hugo", "{{< tabs name=\"os\" >}}\n{{% tab name=\"Linux\" %}}\nRun it.\n{{% /tab %}}\n{{< /tabs >}}", "Linux:\n\nRun it."},
		{"a heading's words", "## {{% heading \"whatsnext\" %}}\n\nGo on.", "# What's next\n\nGo on."},
		{"a figure", "{{< figure src=\"a.png\" caption=\"The parts.\" >}}", "The parts."},
		{"what only fetches", "Before.\n\n{{< youtube abc >}}\n\n{{< include \"x.md\" >}}\n\nAfter.", "Before.\n\nAfter."},
		{"highlighted code", "{{< highlight go >}}\nx := 1\n{{< /highlight >}}", "```go\nx := 1\n```"},
		{"a version in code", "```sh\ncurl {{< param \"version\" >}}/x\nhelm {{ .Values.a }}\n```", "```sh\ncurl /x\nhelm {{ .Values.a }}\n```"},
		{"a comment", "Seen.\n\n{{< comment >}}\nHidden.\n{{< /comment >}}\n\n<!-- hidden -->\nSeen too.", "Seen.\n\nSeen too."},
		{"a reference", "See [it]({{< relref \"it.md\" >}}).", "See it."},
		{"components", "import Tabs from '@theme/Tabs';\nimport {\n  A,\n} from 'x';\n\n<Tabs groupId=\"os\">\n<TabItem value=\"l\" label=\"Linux\">\n\nRun **it**.\n\n</TabItem>\n</Tabs>\n\n<DocCardList />", "Linux:\n\nRun it."},
		{"indented components", "<Steps>\n    <Step title=\"Install\">\n        Run it.\n    </Step>\n</Steps>", "Install:\n\nRun it."},
		{"an admonition of MDX", "<Admonition type=\"tip\" title=\"Quick\">\n\nDo it.\n\n</Admonition>", "Quick:\n\nDo it."},
		{"a placeholder", "Run `cmd <Name>` for <Name> and Map<String>.", "Run `cmd <Name>` for <Name> and Map<String>."},
		{"a function as an attribute", "<Chart data={[1, 2].map(x => x > 1)} />\n\nText.", "Text."},
		{"a comment of MDX", "One {/* not two */} three.", "One  three."},
		{"a note of Docusaurus", ":::tip[Quick]\n\nDo it.\n\n:::", "Quick:\n\nDo it."},
		{"a note of MkDocs", "!!! warning \"Hot\"\n    Mind it.", "Hot:\n\nMind it."},
		{"a block of Python-Markdown", "/// note | Mind\nThe gap.\n///", "Mind:\n\nThe gap."},
		{"Liquid", "{% note %}\n\n**Note:** Read {% data variables.x %}.\n\n{% endnote %}", "Note:\n\nNote: Read ."},
		{"what a site's own tag names", "Ask in {% chat \"ops\" \"Operations\" %}, {% chat \"#help\" %} or [there]({% chat \"ops\" %}){% include \"a\" %}.", "Ask in Operations, #help or there."},
		{"a template in code", "Use `{% if x %}` and `{{ x }}`.", "Use `{% if x %}` and `{{ x }}`."},
		{"includes and tables of contents", "[TOC]\n\n--8<-- \"a.md\"\n\nText.", "Text."},
		{"attributes and icons", "A :material-clock: [button](x){ .md-button } here{: .small }.", "A button here."},
		{"the description of a page without text", "---\ntitle: SDK\ndescription: All about the SDK.\n---\n\nimport X from 'x';\n\n<X />\n", "All about the SDK."},
		{"no description where there is text", "---\ndescription: All about the SDK.\n---\n\nText.\n", "Text."},
		{"a heading's id", "## Set up {#setup}\n\nText.", "# Set up\n\nText."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := read(t, test.source); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestHeadingIDIsTheAnchor(t *testing.T) {
	text, err := parse.Parse(t.Context(), parse.Markdown, "a.md", []byte("## Set up {#install}\n\nText.\n\n## Run\n\nText.\n"), parse.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := text.Sections[0].Anchor + " " + text.Sections[1].Anchor; got != "install run" {
		t.Errorf("anchors %s", got)
	}
}

// FuzzSiteMarkup looks for shortcodes that are left over, and for texts that take long.
func FuzzSiteMarkup(f *testing.F) {
	for _, seed := range []string{
		"{{< note >}}\nx\n{{< /note >}}", "{{% tab name=\"x\" %}}", "<Tabs>\n  <Tab>\n{/* x */}", "{% raw %}{{< x >}}{% endraw %}",
		"import x from 'y'\nexport const a = {", "`{{< x >}}", "```\n{{< x >}}\n```", "{{</* x */>}}", "<A b={() => <C/>}>x</A>", "{{< comment >}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		text, err := parse.Parse(context.Background(), parse.Markdown, "page.md", []byte(source), parse.Limits{})
		if err != nil {
			return
		}
		for _, section := range text.Sections {
			for _, block := range section.Blocks {
				for _, line := range strings.Split(block.Text, "\n") {
					open := strings.Index(line, "{{< ")
					if open >= 0 && strings.Contains(line[open:], " >}}") && !strings.Contains(source, "/*") && !strings.ContainsAny(source, "\\&") {
						t.Errorf("%q is left of %q", line, source)
					}
				}
			}
		}
	})
}
