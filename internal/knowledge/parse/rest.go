package parse

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// reStructuredText, as Sphinx and Docutils read it: section titles, directives, literal
// blocks, tables, lists, roles and references. No live library reads it in Go. What only a
// build of the whole site knows (the titles of other pages, included files) is left out.

// restNesting bounds how deep directives are read in one another.
const restNesting = 16

// parseReST reads reStructuredText.
func parseReST(in input) (Text, error) {
	return parseAsMarkdown(in, "reStructuredText", func(source string) string {
		r := &restReader{replacements: make(map[string]string), targets: make(map[string]string), labels: make(map[string]string)}
		lines := withoutTabs(strings.Split(source, "\n"))
		r.collect(lines)
		r.read(lines, "", 0)
		return strings.Join(r.out.lines, "\n")
	})
}

// parseAsMarkdown reads a document by the Markdown that it stands for.
func parseAsMarkdown(in input, format string, rewrite func(source string) string) (Text, error) {
	source, err := decoded(in.content)
	if err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: format, Err: err}
	}
	meta, body := frontMatter(source)
	return readMarkdown(in, meta, rewrite(body))
}

// restReader rewrites reStructuredText as Markdown.
type restReader struct {
	out          markup
	styles       []string          // of titles, by level
	replacements map[string]string // by the names of |substitutions|
	targets      map[string]string // addresses by the names of `references`_
	labels       map[string]string // section titles by the names that :ref: gives, "" for other places
}

var (
	restDirective    = regexp.MustCompile(`^\.\. (?:\|([^|]+)\| )?([A-Za-z][\w:.+-]*) ?::(?: (.*))?$`)
	restTarget       = regexp.MustCompile("^\\.\\. _(`[^`]+`|[^:`]+): ?(.*)$")
	restOption       = regexp.MustCompile(`^:([\w-]+):(?: +(.*))?$`)
	restField        = regexp.MustCompile(`^:([^:\s][^:]*):(?: +(.*))?$`)
	restOptions      = regexp.MustCompile(`^((?:-\w|--?[a-zA-Z][\w-]*|/[A-Z])(?:[ =][A-Za-z<][\w<>.-]*)?(?:, (?:-\w|--?[a-zA-Z][\w-]*|/[A-Z])(?:[ =][A-Za-z<][\w<>.-]*)?)*)(?: {2,}(\S.*))?$`)
	restItem         = regexp.MustCompile(`^(?:[-*+•]|(?:\d{1,4}|#|[A-Za-z])[.)]|\((?:\d{1,4}|#|[A-Za-z])\)) +\S`)
	restSimpleBorder = regexp.MustCompile(`^=+(?: +=+)+$`)
	restGridBorder   = regexp.MustCompile(`^\+(?:[-=]+\+)+$`)
	restPrinted      = regexp.MustCompile(`\b(latex|man|texinfo|text|epub|pdf)\b`)
	restFootnote     = regexp.MustCompile(`^\.\. \[([^\]]+)\] (.*)$`)
)

// collect finds what the text refers to before or after it is said.
func (r *restReader) collect(lines []string) {
	var labels []string // of the section whose title comes next
	for at, line := range lines {
		switch {
		case r.title(lines, at) > 0:
			title := lines[at+r.title(lines, at)-2]
			for _, label := range labels {
				r.labels[label] = title
			}
			labels = nil
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, ".."):
			labels = nil
		}
		line = strings.TrimSpace(line)
		if m := restTarget.FindStringSubmatch(line); m != nil && m[2] == "" {
			labels = append(labels, restName(m[1]))
			r.labels[restName(m[1])] = ""
		}
		if m := restTarget.FindStringSubmatch(line); m != nil && m[2] != "" {
			r.targets[restName(m[1])] = m[2]
		}
		if m := restDirective.FindStringSubmatch(line); m != nil && m[1] != "" && m[2] == "replace" {
			r.replacements[m[1]] = m[3]
		}
	}
}

func restName(name string) string { return strings.ToLower(oneLine(strings.Trim(name, "`"))) }

// read rewrites lines whose common indentation is taken off.
func (r *restReader) read(lines []string, indent string, depth int) {
	for at := 0; at < len(lines); {
		at += max(1, r.next(lines, at, indent, depth))
	}
}

// next rewrites what begins at a line and gives how many lines it took.
func (r *restReader) next(lines []string, at int, indent string, depth int) int {
	line := lines[at]
	switch {
	case strings.TrimSpace(line) == "":
		r.out.add(indent, "")
		return 1
	case depth == 0 && r.title(lines, at) > 0:
		return r.writeTitle(lines, at)
	case isTransition(line):
		return 1
	case restGridBorder.MatchString(strings.TrimSpace(line)):
		return r.gridTable(lines, at, indent)
	case restSimpleBorder.MatchString(strings.TrimSpace(line)):
		return r.simpleTable(lines, at, indent)
	case strings.HasPrefix(line, ".. "), line == "..":
		return r.explicit(lines, at, indent, depth)
	case strings.HasPrefix(line, ">>>"):
		end := at
		for end < len(lines) && strings.TrimSpace(lines[end]) != "" {
			end++
		}
		r.out.fenced(indent, "python", lines[at:end])
		return end - at
	case isOptionItem(lines, at):
		return r.option(lines, at, indent)
	case restItem.MatchString(line):
		return r.item(lines, at, indent, depth)
	case restField.MatchString(line):
		return r.field(lines, at, indent, depth)
	case indentOf(line) > 0:
		return r.indented(lines, at, indent, depth)
	}
	return r.paragraph(lines, at, indent, depth)
}

// isTransition tells whether a line is drawn and says nothing.
func isTransition(line string) bool { return len(line) >= 4 && isRule(line) }

// title gives how many lines a section title takes that begins at a line, 0 for none.
func (r *restReader) title(lines []string, at int) int {
	if at+2 < len(lines) && isAdornment(lines[at]) && lines[at] == lines[at+2] && lines[at+1] != "" && !isAdornment(lines[at+1]) {
		return 3
	}
	if at+1 < len(lines) && isAdornment(lines[at+1]) && !isAdornment(lines[at]) && indentOf(lines[at]) == 0 &&
		(at == 0 || strings.TrimSpace(lines[at-1]) == "" || strings.HasPrefix(lines[at-1], "..")) &&
		len(lines[at+1])*10 >= utf8.RuneCountInString(lines[at])*7 {
		return 2
	}
	return 0
}

func isAdornment(line string) bool {
	return len(line) >= 2 && strings.Trim(line, line[:1]) == "" && strings.ContainsRune("=-~^*_#+.\"'`:<>!$%&,;?@/\\|", rune(line[0]))
}

// writeTitle writes a section title at the level of its style: styles rank in the order in
// which a document uses them.
func (r *restReader) writeTitle(lines []string, at int) int {
	length := r.title(lines, at)
	style, title := lines[at+length-1][:1], lines[at+length-2]
	if length == 3 {
		style += style
	}
	level := slices.Index(r.styles, style)
	if level < 0 {
		level = len(r.styles)
		r.styles = append(r.styles, style)
	}
	r.out.heading(level+1, r.inline(title))
	return length
}

// explicit rewrites a directive, or drops a comment, target or footnote mark.
func (r *restReader) explicit(lines []string, at int, indent string, depth int) int {
	end := bodyEnd(lines, at+1, 1)
	body := bodyOf(lines[at+1 : end])
	if m := restFootnote.FindStringSubmatch(lines[at]); m != nil {
		r.out.apart(indent, r.inline(strings.Join(append([]string{m[2]}, body...), " ")))
		return end - at
	}
	m := restDirective.FindStringSubmatch(lines[at])
	if m == nil || m[1] != "" {
		return end - at
	}
	directive := restBlock{name: strings.ToLower(m[2]), argument: strings.TrimSpace(m[3])}
	directive.cut(body)
	if depth < restNesting {
		r.directive(directive, indent, depth)
	}
	return end - at
}

// restBlock is a directive.
type restBlock struct {
	name, argument string
	options        map[string]string
	body           []string
}

// cut parts a directive's options from its body.
func (b *restBlock) cut(lines []string) {
	b.options = make(map[string]string)
	for len(lines) > 0 && lines[0] != "" {
		m := restOption.FindStringSubmatch(lines[0])
		if m == nil {
			break
		}
		b.options[m[1]] = m[2]
		lines = lines[1:]
	}
	b.body = lines
}

var (
	restNotes   = []string{"note", "tip", "hint", "warning", "caution", "danger", "important", "attention", "error", "seealso", "todo"}
	restCode    = []string{"code-block", "code", "sourcecode", "literalinclude", "parsed-literal", "prompt", "highlight", "doctest", "testcode", "productionlist"}
	restSkipped = []string{
		"toctree", "contents", "include", "raw", "meta", "index", "image", "highlight", "default-role", "role", "sectnum",
		"currentmodule", "module", "automodule", "autoclass", "autofunction", "tabularcolumns", "literalinclude", "math", "graphviz", "figure",
	}
	restVersions = map[string]string{"versionadded": "New in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version"}
)

func (r *restReader) directive(b restBlock, indent string, depth int) {
	switch {
	case slices.Contains(restNotes, b.name):
		body := b.body
		if b.argument != "" {
			body = slices.Concat([]string{b.argument}, body)
		}
		inner := r.inside(body, depth)
		kind := strings.Replace(b.name, "seealso", "info", 1)
		r.out.note(indent, strings.Replace(kind, "todo", "note", 1), inner)
	case b.name == "admonition":
		r.out.note(indent, "note \""+strings.ReplaceAll(r.inline(b.argument), `"`, "'")+"\"", r.inside(b.body, depth))
	case slices.Contains(restCode, b.name) && b.name != "literalinclude" && b.name != "highlight":
		r.out.fenced(indent, b.argument, b.body)
	case restVersions[b.name] != "":
		version, text, _ := strings.Cut(b.argument, " ")
		body := slices.Concat([]string{restVersions[b.name] + " " + version + ": " + text}, b.body)
		r.out.apart(indent, r.inside(body, depth)...)
	case b.name == "image", b.name == "figure":
		caption := b.options["alt"]
		if b.name == "figure" && len(trimEmptyLines(b.body)) > 0 {
			caption = strings.Join(trimEmptyLines(b.body), " ")
		}
		r.out.apart(indent, r.inline(oneLine(caption)))
	case b.name == "list-table":
		r.out.table(indent, r.listTable(b.body))
	case b.name == "csv-table":
		r.out.table(indent, r.csvTable(b))
	case slices.Contains(restSkipped, b.name), b.name == "only" && !onPages(b.argument):
	default: // only, container, tabs, py:function and other domains: their inside is text
		if b.argument != "" && (strings.Contains(b.name, ":") || strings.Contains(b.name, "function") || strings.Contains(b.name, "option") || b.name == "envvar" || b.name == "rubric" || b.name == "topic" || b.name == "tab" || b.name == "describe" || b.name == "confval") {
			r.out.apart(indent, restSignature(b, r))
		}
		r.out.apart(indent, r.inside(b.body, depth)...)
	}
}

// onPages tells whether what is for some outputs only is on the pages of a site.
func onPages(outputs string) bool {
	return !restPrinted.MatchString(outputs) || strings.Contains(outputs, "html") || strings.Contains(outputs, "not ")
}

// restSignature is how a described thing is named: code, or a label.
func restSignature(b restBlock, r *restReader) string {
	if b.name == "rubric" || b.name == "topic" || b.name == "tab" {
		return strings.TrimSuffix(r.inline(b.argument), ":") + ":"
	}
	return codeSpan(b.argument) + ":"
}

// inside rewrites the body of a directive.
func (r *restReader) inside(lines []string, depth int) []string {
	outer := r.out
	r.out = markup{}
	r.read(lines, "", depth+1)
	inner := r.out.lines
	r.out = outer
	return trimEmptyLines(inner)
}

// item rewrites a list item with what stands below it.
func (r *restReader) item(lines []string, at int, indent string, depth int) int {
	marker, _, _ := strings.Cut(lines[at], " ")
	text := strings.TrimLeft(lines[at][len(marker):], " ")
	inner := len(lines[at]) - len(text)
	end := bodyEnd(lines, at+1, min(inner, 2))
	body := slices.Concat([]string{text}, dedent(lines[at+1:end], inner)) // what is indented more is code, or a quote
	bulleted := "- "
	if digits := strings.Trim(marker, "().#"); marker != "-" && marker != "*" && marker != "+" && marker != "•" {
		bulleted = "1. "
		if digits != "" && strings.Trim(digits, "0123456789") == "" {
			bulleted = digits + ". "
		}
	}
	if depth >= restNesting {
		r.out.add(indent, bulleted+r.inline(oneLine(strings.Join(body, " "))))
		return end - at
	}
	rewritten := r.inside(body, depth)
	if len(rewritten) == 0 {
		return end - at
	}
	r.out.add(indent, bulleted+rewritten[0])
	r.out.add(indent, indentedBy(strings.Repeat(" ", len(bulleted)), rewritten[1:])...)
	return end - at
}

// isOptionItem tells whether a line begins the entry of an option list: options of a command, and
// two spaces behind them, or in the lines below, what they do.
func isOptionItem(lines []string, at int) bool {
	m := restOptions.FindStringSubmatch(lines[at])
	return m != nil && (m[2] != "" || at+1 < len(lines) && indentOf(lines[at+1]) > 1 && strings.TrimSpace(lines[at+1]) != "")
}

// option rewrites the entry of an option list as an item.
func (r *restReader) option(lines []string, at int, indent string) int {
	end := bodyEnd(lines, at+1, 1)
	m := restOptions.FindStringSubmatch(lines[at])
	text := r.inline(oneLine(strings.Join(append([]string{m[2]}, bodyOf(lines[at+1:end])...), " ")))
	r.out.add(indent, "- "+codeSpan(m[1])+": "+text)
	return end - at
}

// field rewrites a field such as ":param name: what it is". Those in front of the text are
// about the document and are left out.
func (r *restReader) field(lines []string, at int, indent string, depth int) int {
	end := bodyEnd(lines, at+1, 1)
	m := restField.FindStringSubmatch(lines[at])
	if depth == 0 && len(trimEmptyLines(r.out.lines)) == 0 {
		return end - at
	}
	text := r.inline(oneLine(strings.Join(append([]string{m[2]}, bodyOf(lines[at+1:end])...), " ")))
	r.out.add(indent, "- "+strings.TrimSuffix(r.inline(m[1]), ":")+": "+text)
	return end - at
}

// indented rewrites a quote, or what defines the term in front of it.
func (r *restReader) indented(lines []string, at int, indent string, depth int) int {
	end := bodyEnd(lines, at, 1)
	if depth >= restNesting {
		r.out.apart(indent, r.inline(oneLine(strings.Join(lines[at:end], " "))))
		return end - at
	}
	r.out.apart(indent, r.inside(bodyOf(lines[at:end]), depth)...)
	return end - at
}

// paragraph rewrites lines up to an empty one. One that ends in "::" has code below it; a
// single line with indented text directly below it is a term and its definition.
func (r *restReader) paragraph(lines []string, at int, indent string, depth int) int {
	end := at + 1
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" && indentOf(lines[end]) == 0 && !strings.HasPrefix(lines[end], ".. ") {
		end++
	}
	text := strings.Join(lines[at:end], "\n")
	if end < len(lines) && end == at+1 && indentOf(lines[end]) > 0 && !strings.HasSuffix(text, "::") {
		stop := bodyEnd(lines, end, 1)
		r.out.apart(indent, strings.TrimSuffix(r.inline(text), ":")+":")
		if depth < restNesting {
			r.out.apart(indent, r.inside(bodyOf(lines[end:stop]), depth)...)
		}
		return stop - at
	}
	if !strings.HasSuffix(text, "::") {
		r.out.add(indent, strings.Split(r.inline(text), "\n")...)
		return end - at
	}
	if text = strings.TrimSpace(strings.TrimSuffix(text, "::")); text != "" {
		r.out.add(indent, strings.Split(r.inline(text+":"), "\n")...)
	}
	stop := bodyEnd(lines, end, 1)
	r.out.fenced(indent, "", bodyOf(lines[end:stop]))
	return max(stop, end) - at
}

// listTable reads the table that a list of lists stands for.
func (r *restReader) listTable(lines []string) [][]string {
	var rows [][]string
	for _, line := range lines {
		text := strings.TrimSpace(line)
		row, isRow := strings.CutPrefix(text, "* ")
		cell, isCell := strings.CutPrefix(strings.TrimSpace(row), "-")
		switch {
		case text == "":
		case isRow && isCell:
			rows = append(rows, []string{r.inline(strings.TrimSpace(cell))})
		case isCell && len(rows) > 0:
			rows[len(rows)-1] = append(rows[len(rows)-1], r.inline(strings.TrimSpace(cell)))
		case len(rows) > 0:
			last := rows[len(rows)-1]
			last[len(last)-1] += " " + r.inline(text)
		}
	}
	return rows
}

func (r *restReader) csvTable(b restBlock) [][]string {
	source := strings.Join(b.body, "\n")
	if header := b.options["header"]; header != "" {
		source = header + "\n" + strings.TrimLeft(source, "\n")
	}
	reader := csv.NewReader(strings.NewReader(source))
	reader.FieldsPerRecord, reader.LazyQuotes, reader.TrimLeadingSpace = -1, true, true
	rows, err := reader.ReadAll()
	if err != nil {
		return [][]string{{oneLine(source)}}
	}
	for _, row := range rows {
		for i := range row {
			row[i] = r.inline(row[i])
		}
	}
	return rows
}
