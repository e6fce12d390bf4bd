package parse

import (
	"slices"
	"strings"
)

var (
	noteTags = []string{"note", "tip", "info", "warning", "caution", "danger", "important", "callout", "admonition", "alert", "hint", "notice", "aside", "attention", "error", "success"}
	// tabTags label what is inside them, titleTags have a title where it is more than a look.
	tabTags   = []string{"tab", "tabitem", "tabpanel", "codetab"}
	titleTags = []string{"details", "accordion", "accordionitem", "step", "card", "expand", "expandable", "collapse", "collapsible", "panel", "linkcard"}
	codeTags  = []string{"highlight", "code", "codeblock", "mermaid"}
	skipTags  = []string{"comment", "style", "script"}
	// textTags say what their first word says.
	textTags = []string{"ref", "relref", "heading", "badge", "abbr", "kbd", "tooltip", "button", "link"}
)

// fetchTags name a thing that they show, or act on.
var fetchTags = []string{"include", "include_relative", "includes", "render", "partial", "param", "var", "youtube", "vimeo", "gist", "icon", "asset", "page", "post_url", "layout", "extends", "block", "set", "assign", "snippet", "readfile", "shared", "embed", "feature-state", "version"}

// saidInText is what a tag inside a sentence says that only its own site knows: the last of
// its quoted arguments, such as a name, where that is no address or file.
func (t *siteTag) saidInText() string {
	if t.closing || len(t.quoted) == 0 || len(t.args) > 0 || slices.Contains(fetchTags, t.name) {
		return ""
	}
	last := t.quoted[len(t.quoted)-1]
	if strings.ContainsAny(last, "/.{}<>[]|") {
		return ""
	}
	return last
}

// replace writes what a tag stands for.
func (r *tagReader) replace(out *strings.Builder, tag siteTag, alone bool) {
	name := tag.name
	switch {
	case r.skipping != "":
		if tag.closing && name == r.skipping {
			r.skipping = ""
		}
	case slices.Contains(skipTags, name) && !tag.closing && !tag.empty && r.isClosed(name):
		r.skipping = name
	case !alone:
		said := tag.text()
		if said == "" && !strings.HasSuffix(out.String(), "](") { // of a link's address nothing is left
			said = tag.saidInText()
		}
		out.WriteString(said)
	case slices.Contains(noteTags, name) && !tag.empty && r.isClosed(name):
		if tag.closing {
			writeLine(out, ":::")
			return
		}
		writeLine(out, noteMark(tag.noteKind(), tag.arg("title", "header", "heading")))
	case slices.Contains(codeTags, name) && !tag.empty && r.isClosed(name):
		if tag.closing {
			out.WriteString("```")
			return
		}
		out.WriteString("```" + strings.Trim(firstOf(tag.arg("lang", "language"), tag.firstWord()), "`"))
	case tag.closing:
	case slices.Contains(tabTags, name):
		writeLabel(out, firstOf(tag.arg("label", "name", "title", "tabname", "header", "value"), tag.firstWord()))
	case slices.Contains(titleTags, name):
		writeLabel(out, firstOf(tag.arg("title", "summary", "header", "label"), tag.firstWord()))
	default:
		out.WriteString(tag.text())
	}
}

// isClosed says whether a tag of one of the names above is closed anywhere.
func (r *tagReader) isClosed(name string) bool {
	if known, looked := r.closed[name]; looked {
		return known
	}
	if r.closed == nil {
		r.closed, r.lower = make(map[string]bool), strings.ToLower(r.source)
	}
	r.closed[name] = slices.ContainsFunc([]string{
		"{{< /" + name, "{{</ " + name, "{{</" + name, "{{% /" + name, "{{%/ " + name, "{{%/" + name,
		"{% end" + name, "{%- end" + name, "</" + name + ">",
	}, func(closing string) bool { return strings.Contains(r.lower, closing) })
	return r.closed[name]
}

// writeLine writes a line with nothing beside it.
func writeLine(out *strings.Builder, line string) {
	out.WriteString("\n" + line + "\n")
}

func writeLabel(out *strings.Builder, label string) {
	if label != "" {
		writeLine(out, titled(label)[0]+"\n")
	}
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// noteKind is what kind of note a tag begins: by its name, or by an argument of tags
// that are named for all kinds.
func (t *siteTag) noteKind() string {
	for _, given := range []string{t.arg("type", "kind", "style", "variant", "intent", "severity", "color", "context"), t.firstWord()} {
		if slices.Contains(noteTags, strings.ToLower(given)) {
			return given
		}
	}
	switch t.name {
	case "callout", "admonition", "alert", "hint", "notice", "aside":
		return "note"
	}
	return t.name
}

// headings are what Hugo sites for documentation call their usual sections.
var headingTexts = map[string]string{"whatsnext": "What's next", "prerequisites": "Before you begin", "seealso": "See also", "cleanup": "Cleaning up", "lessoncontent": "Lesson"}

// text is what a tag says to readers, "" for what only places or fetches something.
func (t *siteTag) text() string {
	switch {
	case t.wholeTag != "":
		return t.wholeTag
	case t.closing || t.name == "":
		return ""
	case t.arg("text") != "":
		return t.arg("text")
	case strings.HasPrefix(t.name, "glossary"):
		return strings.ReplaceAll(firstOf(t.arg("term", "term_id", "id"), t.firstWord()), "-", " ")
	case t.name == "figure" || t.name == "img" || t.name == "image":
		return t.arg("caption", "alt", "title")
	case t.name == "heading" && headingTexts[strings.ToLower(t.firstWord())] != "":
		return headingTexts[strings.ToLower(t.firstWord())]
	case slices.Contains(textTags, t.name):
		return firstOf(t.firstWord(), t.arg("label", "title", "name"))
	}
	return ""
}
