package parse

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// AsciiDoc, as Asciidoctor reads it: titles, attributes, blocks between delimiters, tables,
// lists, admonitions and macros. Included files and conditions belong to the build of a
// site: the former are left out, what stands inside the latter is read.

// asciiNesting bounds how deep blocks are read in one another.
const asciiNesting = 16

// parseAsciiDoc reads AsciiDoc.
func parseAsciiDoc(in input) (Text, error) {
	return parseAsMarkdown(in, "AsciiDoc", func(source string) string {
		r := &asciiReader{attributes: make(map[string]string)}
		lines := withoutTabs(strings.Split(source, "\n"))
		r.read(lines[r.header(lines):], "", 0)
		return strings.Join(r.out.lines, "\n")
	})
}

// asciiReader rewrites AsciiDoc as Markdown.
type asciiReader struct {
	out        markup
	attributes map[string]string // values by names, in lower case
	style      []string          // of the attribute list in front of a block: [source,yaml]
	title      string            // of the block that follows
}

var (
	asciiAttribute = regexp.MustCompile(`^:(!?[A-Za-z0-9_][\w-]*!?):(?:\s+(.*))?$`)
	asciiTitle     = regexp.MustCompile(`^(={1,6}|#{1,6})\s+(\S.*)$`)
	asciiStyle     = regexp.MustCompile(`^\[([^\]]*)\]$`)
	asciiAnchor    = regexp.MustCompile(`^\[\[([^\],]+)(?:,[^\]]*)?\]\]$`)
	asciiNote      = regexp.MustCompile(`^(NOTE|TIP|IMPORTANT|CAUTION|WARNING): +(\S.*)$`)
	asciiItem      = regexp.MustCompile(`^\s*(\*{1,5}|-|\.{1,5}|\d{1,4}\.|[a-z]\.|<(?:\d+|\.)>) +(\S.*)$`)
	asciiTerm      = regexp.MustCompile(`^\s*(\S.*?)(:{2,4}|;;)(?:\s+(\S.*))?$`)
	asciiMacro     = regexp.MustCompile(`^(image|video|audio|include|toc|ifdef|ifndef|ifeval|endif)::([^\[]*)\[([^\]]*)\]$`)
	asciiBlockName = regexp.MustCompile(`^\.([^\s.].*)$`)
	asciiCallout   = regexp.MustCompile(`(?:\s*(?://|#|;;|--)?\s*<(?:\d+|\.)>)+\s*$`)
)

// header reads the title and the attributes that a document begins with, and gives how many
// lines they take. Author and revision stand below the title.
func (r *asciiReader) header(lines []string) int {
	at := 0
	for at < len(lines) && (strings.TrimSpace(lines[at]) == "" || isAsciiComment(lines[at])) {
		at++
	}
	if at == len(lines) || !strings.HasPrefix(lines[at], "= ") {
		return at
	}
	title := strings.TrimPrefix(lines[at], "= ")
	for at++; at < len(lines) && strings.TrimSpace(lines[at]) != ""; at++ {
		if !r.attribute(lines[at]) && asciiTitle.MatchString(lines[at]) {
			break
		}
	}
	r.out.heading(1, r.inline(title))
	return at
}

func isAsciiComment(line string) bool {
	return strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "///")
}

// attribute takes a line that sets or unsets an attribute.
func (r *asciiReader) attribute(line string) bool {
	m := asciiAttribute.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	name := strings.ToLower(strings.Trim(m[1], "!"))
	if strings.Contains(m[1], "!") {
		delete(r.attributes, name)
		return true
	}
	r.attributes[name] = r.inline(strings.TrimSuffix(m[2], " \\"))
	return true
}

func (r *asciiReader) read(lines []string, indent string, depth int) {
	for at := 0; at < len(lines); {
		at += max(1, r.next(lines, at, indent, depth))
	}
}

// delimiters are the marks between which a block stands, by what they begin with.
var delimiters = []string{"----", "....", "====", "****", "____", "////", "++++", "```", "--", "|===", ",===", ":===", "!==="}

// delimiter gives the mark that opens a block, "" for other lines.
func delimiter(line string) string {
	for _, mark := range delimiters {
		if line == mark || len(mark) == 4 && mark[1] != '=' && strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "" ||
			mark == "====" && strings.HasPrefix(line, mark) && strings.Trim(line, "=") == "" || mark == "```" && strings.HasPrefix(line, mark) && !strings.Contains(line[3:], "`") {
			return line
		}
	}
	return ""
}

// next rewrites what begins at a line and gives how many lines it took.
func (r *asciiReader) next(lines []string, at int, indent string, depth int) int {
	line := lines[at]
	if mark := delimiter(line); mark != "" {
		return r.block(lines, at, indent, depth)
	}
	switch {
	case strings.TrimSpace(line) == "":
		r.out.add(indent, "")
		return 1
	case isAsciiComment(line), r.attribute(line), asciiMacro.MatchString(line):
		r.macro(line, indent)
		return 1
	case asciiAnchor.MatchString(line):
		return 1
	case asciiTitle.MatchString(line):
		m := asciiTitle.FindStringSubmatch(line)
		r.style, r.title = nil, ""
		if depth == 0 {
			r.out.heading(len(m[1]), r.inline(m[2]))
		} else {
			r.out.apart(indent, strings.TrimSuffix(r.inline(m[2]), ":")+":")
		}
		return 1
	case asciiStyle.MatchString(line):
		r.style = strings.Split(asciiStyle.FindStringSubmatch(line)[1], ",")
		return 1
	case asciiBlockName.MatchString(line) && (at == 0 || !isAsciiText(lines[at-1])):
		r.title = r.inline(strings.TrimPrefix(line, "."))
		return 1
	case asciiItem.MatchString(line):
		return r.item(lines, at, indent, depth)
	case asciiTerm.MatchString(line) && !strings.Contains(line, "://"):
		return r.term(lines, at, indent)
	}
	return r.paragraph(lines, at, indent)
}

// isAsciiText tells whether a line is one that a paragraph goes on from.
func isAsciiText(line string) bool {
	return strings.TrimSpace(line) != "" && delimiter(line) == "" && !asciiStyle.MatchString(line) && !asciiAttribute.MatchString(line) && !asciiMacro.MatchString(line)
}

// macro writes what a block macro says: an image its alternative text.
func (r *asciiReader) macro(line, indent string) {
	m := asciiMacro.FindStringSubmatch(line)
	if m == nil || m[1] != "image" {
		return
	}
	said, _, _ := strings.Cut(m[3], ",")
	if r.title != "" {
		said, r.title = r.title, ""
	}
	r.out.apart(indent, r.inline(strings.Trim(said, `"`)))
}

// takeStyle gives the attributes of a block, and writes its title.
func (r *asciiReader) takeStyle(indent string) (name, language string) {
	if r.title != "" {
		r.out.apart(indent, strings.TrimSuffix(r.title, ":")+":")
	}
	if len(r.style) > 0 {
		name, _, _ = strings.Cut(strings.TrimSpace(r.style[0]), "%")
		name, _, _ = strings.Cut(name, "#")
		name, _, _ = strings.Cut(name, ".")
	}
	if len(r.style) > 1 && !strings.Contains(r.style[1], "=") {
		language = strings.TrimSpace(r.style[1])
	}
	r.style, r.title = nil, ""
	return name, language
}

var asciiNotes = []string{"NOTE", "TIP", "IMPORTANT", "CAUTION", "WARNING"}

// block rewrites what stands between delimiters.
func (r *asciiReader) block(lines []string, at int, indent string, depth int) int {
	mark := lines[at]
	closing := mark
	if strings.HasPrefix(mark, "```") {
		closing = "```"
	}
	end := at + 1
	for end < len(lines) && lines[end] != closing {
		end++
	}
	body := lines[at+1 : end]
	length := min(end+1, len(lines)) - at
	if strings.HasPrefix(mark, "////") || strings.HasPrefix(mark, "++++") {
		r.style, r.title = nil, ""
		return length
	}
	name, language := r.takeStyle(indent)
	switch {
	case strings.HasSuffix(mark, "===") && !strings.HasPrefix(mark, "="):
		r.out.table(indent, r.table(body, mark[:1]))
	case strings.HasPrefix(mark, "----"), strings.HasPrefix(mark, "...."), name == "source", name == "listing", name == "literal":
		r.out.fenced(indent, language, withoutCallouts(body))
	case strings.HasPrefix(mark, "```"):
		r.out.fenced(indent, mark[3:], withoutCallouts(body))
	case depth >= asciiNesting:
	case slices.Contains(asciiNotes, name):
		r.out.note(indent, strings.ToLower(name), r.inside(body, depth))
	default:
		r.out.apart(indent, r.inside(body, depth)...)
	}
	return length
}

// withoutCallouts takes the marks out of code that explanations below it refer to.
func withoutCallouts(code []string) []string {
	out := make([]string, len(code))
	for i, line := range code {
		out[i] = asciiCallout.ReplaceAllString(line, "")
	}
	return out
}

func (r *asciiReader) inside(lines []string, depth int) []string {
	outer := r.out
	r.out = markup{}
	r.read(lines, "", depth+1)
	inner := r.out.lines
	r.out = outer
	return trimEmptyLines(inner)
}

// table reads cells; a row has as many as the first line of cells, or as [cols] says.
func (r *asciiReader) table(lines []string, separator string) [][]string {
	if separator == "!" || separator == "|" {
		return r.pipeTable(lines, separator)
	}
	var rows [][]string
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			rows = append(rows, strings.Split(r.inline(line), separator))
		}
	}
	return rows
}

// cellSpecifier is what stands in front of a cell's mark: "2+", "a", ".2+^.>s".
var cellSpecifier = regexp.MustCompile(`(?:^|\s)(?:\d*(?:\.\d+)?[+*])?[<^>]?(?:\.[<^>])?[adehlmsv]?$`)

func (r *asciiReader) pipeTable(lines []string, separator string) [][]string {
	var cells []string
	columns := 0
	for _, line := range lines {
		parts := strings.Split(line, separator)
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(parts) == 1 || strings.TrimSpace(cellSpecifier.ReplaceAllString(parts[0], "")) != "" {
			if len(cells) > 0 {
				cells[len(cells)-1] += " " + parts[0]
			}
		}
		for _, part := range parts[1:] {
			cells = append(cells, cellSpecifier.ReplaceAllString(part, ""))
		}
		if columns == 0 {
			columns = len(parts) - 1
		}
	}
	if columns == 0 {
		return nil
	}
	var rows [][]string
	for row := range slices.Chunk(cells, columns) {
		for i := range row {
			row[i] = r.inline(oneLine(row[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// item rewrites a list item with the lines and blocks that go on with it.
func (r *asciiReader) item(lines []string, at int, indent string, depth int) int {
	m := asciiItem.FindStringSubmatch(lines[at])
	r.style, r.title = nil, ""
	level, marker := 1, "- "
	switch m[1][0] {
	case '*':
		level = len(m[1])
	case '.':
		level, marker = len(m[1]), "1. "
	case '-', '<': // explanations of code are no steps
	default:
		marker = "1. "
	}
	text := []string{m[2]}
	end := at + 1
	for end < len(lines) && isAsciiText(lines[end]) && lines[end] != "+" && !asciiItem.MatchString(lines[end]) && !asciiTerm.MatchString(lines[end]) {
		text = append(text, strings.TrimSpace(lines[end]))
		end++
	}
	outer := indent + strings.Repeat("    ", level-1)
	r.out.add(outer, marker+r.inline(oneLine(strings.Join(text, " "))))
	for end < len(lines) && lines[end] == "+" && depth < asciiNesting {
		stop := attachedEnd(lines, end+1)
		r.out.apart(outer+strings.Repeat(" ", len(marker)), r.inside(lines[end+1:stop], depth)...)
		end = stop
	}
	return end - at
}

// attachedEnd is where the block ends that a line with "+" attaches to an item.
func attachedEnd(lines []string, from int) int {
	open := ""
	for i := from; i < len(lines); i++ {
		mark := delimiter(lines[i])
		switch {
		case open != "" && lines[i] == open:
			return i + 1
		case open != "":
		case mark != "":
			open = strings.TrimRight(mark, "abcdefghijklmnopqrstuvwxyz")
		case lines[i] == "+", strings.TrimSpace(lines[i]) == "", i > from && asciiItem.MatchString(lines[i]):
			return i
		}
	}
	return len(lines)
}

// term rewrites a term with its definition.
func (r *asciiReader) term(lines []string, at int, indent string) int {
	m := asciiTerm.FindStringSubmatch(lines[at])
	text := []string{m[3]}
	end := at + 1
	for end < len(lines) && m[3] == "" && strings.TrimSpace(lines[end]) == "" {
		end++
	}
	for end < len(lines) && isAsciiText(lines[end]) && lines[end] != "+" && !asciiItem.MatchString(lines[end]) && !asciiTerm.MatchString(lines[end]) && !asciiTitle.MatchString(lines[end]) {
		text = append(text, strings.TrimSpace(lines[end]))
		end++
	}
	definition := r.inline(oneLine(strings.Join(text, " ")))
	r.out.add(indent, "- "+strings.TrimSpace(r.inline(m[1])+": "+definition))
	return end - at
}

// paragraph rewrites lines up to an empty one: a note, a literal that is indented, or prose.
func (r *asciiReader) paragraph(lines []string, at int, indent string) int {
	end := at + 1
	for end < len(lines) && isAsciiText(lines[end]) && lines[end] != "+" {
		end++
	}
	name, language := r.takeStyle(indent)
	own := lines[at:end]
	m := asciiNote.FindStringSubmatch(own[0])
	switch {
	case lines[at] == "+":
	case name == "source", name == "listing", name == "literal":
		r.out.fenced(indent, language, withoutCallouts(own))
	case m != nil:
		r.out.note(indent, strings.ToLower(m[1]), strings.Split(r.inline(strings.Join(append([]string{m[2]}, own[1:]...), "\n")), "\n"))
	case slices.Contains(asciiNotes, name):
		r.out.note(indent, strings.ToLower(name), strings.Split(r.inline(strings.Join(own, "\n")), "\n"))
	case indentOf(own[0]) > 0:
		r.out.fenced(indent, "", bodyOf(own))
	default:
		r.out.add(indent, strings.Split(r.inline(strings.Join(own, "\n")), "\n")...)
	}
	return end - at
}

var (
	asciiCode      = regexp.MustCompile("`\\+(.+?)\\+`|`([^`]+)`|\\+\\+(.+?)\\+\\+")
	asciiURL       = regexp.MustCompile(`(?:link:)?\b(https?://[^\s\[\]<>]+)\[([^\]]*)\]`)
	asciiXref      = regexp.MustCompile(`\b(?:xref|link|mailto):([^\s\[\]]+)\[([^\]]*)\]`)
	asciiCross     = regexp.MustCompile(`<<([^,>]+)(?:,([^>]*))?>>`)
	asciiInline    = regexp.MustCompile(`\b(kbd|btn|menu|image|icon|footnote|pass|anchor|stem|indexterm):([^\s\[\]]*)\[([^\]]*)\]`)
	asciiMarked    = regexp.MustCompile(`\[[.#][^\]]*\]#([^#]+)#|\[\[[^\]]+\]\]`)
	asciiReference = regexp.MustCompile(`\{([A-Za-z0-9_][\w-]*)\}`)
	asciiBold      = regexp.MustCompile(`(^|\W)\*(\S[^*]*\S|\S)\*($|\W)`)
)

// asciiCharacters are attributes that every document has.
var asciiCharacters = map[string]string{
	"nbsp": " ", "zwsp": "", "empty": "", "sp": " ", "plus": "+", "asterisk": "*", "lt": "<", "gt": ">", "amp": "&",
	"vbar": "|", "startsb": "[", "endsb": "]", "apos": "'", "quot": `"`, "backtick": "`", "two-colons": "::", "cpp": "C++",
}

// inline rewrites macros, links and attributes.
func (r *asciiReader) inline(text string) string {
	text = strings.ReplaceAll(text, "\x00", "")
	var kept []string
	keep := func(code string) string {
		kept = append(kept, restore(code, kept))
		return markOf(len(kept) - 1)
	}
	text = asciiReference.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.ToLower(strings.Trim(found, "{}"))
		if value, ok := r.attributes[name]; ok && len(value) <= maxAttribute {
			return value
		}
		if value, ok := asciiCharacters[name]; ok {
			return value
		}
		return found
	})
	text = asciiCode.ReplaceAllStringFunc(text, func(found string) string {
		m := asciiCode.FindStringSubmatch(found)
		return keep(codeSpan(firstOf(m[1], m[2], m[3])))
	})
	text = asciiURL.ReplaceAllStringFunc(text, func(found string) string {
		m := asciiURL.FindStringSubmatch(found)
		return keep(knowledge.MakeLink(firstOf(asciiLabel(m[2]), m[1]), m[1]))
	})
	text = asciiXref.ReplaceAllStringFunc(text, func(found string) string {
		m := asciiXref.FindStringSubmatch(found)
		return keep(markdownLink(firstOf(asciiLabel(m[2]), readableName(m[1])), m[1]))
	})
	text = asciiCross.ReplaceAllStringFunc(text, func(found string) string {
		m := asciiCross.FindStringSubmatch(found)
		return firstOf(strings.TrimSpace(m[2]), strings.NewReplacer("_", " ", "-", " ").Replace(strings.Trim(m[1], "_#")))
	})
	text = asciiInline.ReplaceAllStringFunc(text, func(found string) string {
		m := asciiInline.FindStringSubmatch(found)
		switch m[1] {
		case "menu":
			return strings.Trim(m[2]+" > "+m[3], " >")
		case "footnote":
			return " (" + m[3] + ")"
		case "icon", "anchor", "indexterm":
			return ""
		}
		return m[3]
	})
	text = asciiMarked.ReplaceAllString(text, "$1")
	text = asciiBold.ReplaceAllString(text, "$1**$2**$3")
	text = strings.TrimSuffix(strings.ReplaceAll(text, " +\n", "  \n"), " +")
	return restore(text, kept)
}

// maxAttribute bounds the value of an attribute that stands for its name, in bytes: values
// name others.
const maxAttribute = 2000

// asciiLabel is the text of a link, without the attributes behind it.
func asciiLabel(given string) string {
	if label, rest, found := strings.Cut(given, ","); found && strings.Contains(rest, "=") {
		given = label
	}
	return strings.Trim(strings.TrimSuffix(strings.TrimSpace(given), "^"), `"`)
}
