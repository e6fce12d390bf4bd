package parse

import (
	"regexp"
	"strings"
)

// maxNames is how many different components of a document are told from placeholders.
const maxNames = 200

// maxTag is the longest shortcode or tag that is read, in bytes.
const maxTag = 4000

// tagReader resolves the tags of one document.
type tagReader struct {
	source     string
	components map[string]bool // names that were looked at
	lower      string          // source in lower case, "" before it is needed
	closed     map[string]bool // names that isClosed looked for
	skipping   string          // the shortcode whose inside is left out
}

// siteTag is a shortcode, a tag of Liquid or a component of MDX.
type siteTag struct {
	name     string // in lower case
	closing  bool
	empty    bool // closes itself
	args     map[string]string
	words    []string // arguments without a name
	quoted   []string // of them, those in quotes
	wholeTag string
}

var tagBegin = regexp.MustCompile("\\{\\{[<%]|\\{%-?[ \\t]|\\{/\\*|</?[A-Z]|`+")

// resolve gives text that stands outside of code blocks with its tags resolved.
func (r *tagReader) resolve(text string) string {
	var out strings.Builder
	for text != "" {
		at := tagBegin.FindStringIndex(text)
		if at == nil {
			break
		}
		r.write(&out, text[:at[0]])
		text = text[at[0]:]
		if text[0] == '`' {
			length := codeSpanEnd(text)
			r.write(&out, r.resolveShortcodes(text[:length]))
			text = text[length:]
			continue
		}
		tag, length, ok := r.tagAt(text)
		if !ok {
			r.write(&out, text[:1])
			text = text[1:]
			continue
		}
		alone := isAlone(out.String(), text[length:])
		text = text[length:]
		r.replace(&out, tag, alone)
	}
	r.write(&out, text)
	return out.String()
}

func (r *tagReader) write(out *strings.Builder, text string) {
	if r.skipping == "" {
		out.WriteString(text)
	}
}

// codeSpanEnd is behind the code span that a text begins with, or behind its back quotes
// where nothing closes them in the same paragraph.
func codeSpanEnd(text string) int {
	run := len(text) - len(strings.TrimLeft(text, "`"))
	within, _, _ := strings.Cut(head(text), "\n\n")
	end := len(within)
	if run >= end {
		return run
	}
	for at := run; at < end; {
		next := strings.IndexByte(text[at:end], '`')
		if next < 0 {
			break
		}
		at += next
		length := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		at += length
		if length == run {
			return at
		}
	}
	return run
}

// isAlone says whether a tag stands on a line of its own.
func isAlone(before, after string) bool {
	line := before[max(0, len(before)-maxTag):]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	rest, _, _ := strings.Cut(head(after), "\n")
	return strings.TrimSpace(line) == "" && strings.TrimSpace(rest) == ""
}

// head is as much of a text as a tag or a code span may take.
func head(text string) string { return text[:min(len(text), maxTag)] }

// tagAt reads the tag that a text begins with.
func (r *tagReader) tagAt(text string) (tag siteTag, length int, ok bool) {
	switch {
	case strings.HasPrefix(text, "{/*"):
		end := strings.Index(head(text), "*/}")
		if end < 0 {
			return siteTag{}, 0, false
		}
		return siteTag{empty: true}, end + 3, true
	case strings.HasPrefix(text, "{{<"):
		return shortcode(text, ">}}")
	case strings.HasPrefix(text, "{{%"):
		return shortcode(text, "%}}")
	case strings.HasPrefix(text, "{%"):
		return liquid(text)
	}
	return r.component(text)
}

func shortcode(text, end string) (tag siteTag, length int, ok bool) {
	at := strings.Index(head(text), end)
	if at < len("{{<") {
		return siteTag{}, 0, false
	}
	inside := strings.TrimSpace(text[len("{{<"):at])
	if strings.HasPrefix(inside, "/*") { // escaped, to be shown
		return siteTag{empty: true, wholeTag: strings.TrimSpace(strings.Trim(inside, "/*"))}, at + len(end), true
	}
	tag.closing = strings.HasPrefix(inside, "/")
	tag.empty = strings.HasSuffix(inside, "/")
	tag.read(strings.Trim(inside, "/ \t\n"))
	return tag, at + len(end), true
}

func liquid(text string) (tag siteTag, length int, ok bool) {
	at := strings.Index(head(text), "%}")
	if at < len("{%") || strings.Contains(text[:at], "\n\n") {
		return siteTag{}, 0, false
	}
	tag.read(strings.Trim(text[2:at], "- \t\n"))
	if name, ends := strings.CutPrefix(tag.name, "end"); ends {
		tag.name, tag.closing = name, true
	}
	return tag, at + 2, true
}

// component reads a tag of MDX. What may be a placeholder, such as <Name>, is none.
func (r *tagReader) component(text string) (tag siteTag, length int, ok bool) {
	end := componentEnd(text)
	if end < 0 {
		return siteTag{}, 0, false
	}
	inside := text[1 : end-1]
	tag.closing = strings.HasPrefix(inside, "/")
	tag.empty = strings.HasSuffix(inside, "/")
	inside = strings.Trim(inside, "/ \t\n")
	name := inside
	if cut := strings.IndexAny(inside, " \t\n"); cut >= 0 {
		name = inside[:cut]
	}
	if !r.isComponent(name, tag.empty) {
		return siteTag{}, 0, false
	}
	tag.read(inside)
	return tag, end, true
}

// componentEnd is behind the ">" that ends a tag, outside of quotes and braces; -1 where
// none does.
func componentEnd(text string) int {
	depth, quote := 0, byte(0)
	for i := 1; i < len(text) && i < maxTag; i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '<' && depth == 0:
			return -1
		case c == '>' && depth <= 0:
			return i + 1
		}
	}
	return -1
}

var componentName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(?:\.[A-Za-z0-9]+)*$`)

// isComponent says whether a capitalized tag is one of MDX: it is imported, closes
// itself or is closed somewhere.
func (r *tagReader) isComponent(name string, empty bool) bool {
	if !componentName.MatchString(name) {
		return false
	}
	if empty {
		return true
	}
	known, looked := r.components[name]
	if !looked {
		if r.components == nil {
			r.components = make(map[string]bool)
		}
		known = len(r.components) < maxNames && (strings.Contains(r.source, "</"+name+">") || strings.Contains(r.source, "import "+name+" from"))
		r.components[name] = known
	}
	return known
}

var tagArgument = regexp.MustCompile("([\\w:-]+)=(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`|\\{\\s*[\"'`]([^\"'`]*)[\"'`]\\s*\\}|(\\{[^{}]*\\}|[^\\s\"'`{]+))|\"([^\"]*)\"|'([^']*)'|(\\S+)")

// read gives a tag its name and arguments.
func (t *siteTag) read(inside string) {
	cut := strings.IndexAny(inside, " \t\n")
	if cut < 0 {
		t.name = strings.ToLower(inside)
		return
	}
	t.name = strings.ToLower(inside[:cut])
	t.args = make(map[string]string)
	for _, m := range tagArgument.FindAllStringSubmatch(inside[cut:], 30) {
		if m[1] != "" {
			t.args[strings.ToLower(m[1])] = m[2] + m[3] + m[4] + m[5] + m[6]
			continue
		}
		t.words = append(t.words, m[7]+m[8]+m[9])
		if m[9] == "" {
			t.quoted = append(t.quoted, m[7]+m[8])
		}
	}
}

// arg gives the first of some arguments that is there, "" for none.
func (t *siteTag) arg(names ...string) string {
	for _, name := range names {
		if value := strings.TrimSpace(t.args[name]); value != "" && !strings.HasPrefix(value, "{") {
			return value
		}
	}
	return ""
}

// firstWord is the first argument without a name, "" where there is none.
func (t *siteTag) firstWord() string {
	if len(t.words) > 0 {
		return t.words[0]
	}
	return ""
}

// resolveShortcodes gives a line of code with the shortcodes in it resolved to their
// text: a generator acts on those there, too, but on no other tags.
func (r *tagReader) resolveShortcodes(line string) string {
	if !strings.Contains(line, "{{<") && !strings.Contains(line, "{{%") {
		return line
	}
	var out strings.Builder
	for {
		at := strings.Index(line, "{{")
		if at < 0 {
			break
		}
		out.WriteString(line[:at])
		line = line[at:]
		tag, length, ok := siteTag{}, 0, false
		if strings.HasPrefix(line, "{{<") || strings.HasPrefix(line, "{{%") {
			tag, length, ok = r.tagAt(line)
		}
		if !ok {
			out.WriteString(line[:2])
			line = line[2:]
			continue
		}
		out.WriteString(tag.text())
		line = line[length:]
	}
	return out.String() + line
}
