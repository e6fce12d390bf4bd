package parse

import (
	"path"
	"regexp"
	"strings"
)

// languages are the languages of source code that is read, by the ending of the file.
var languages = map[string]string{
	".go": "go", ".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".tsx": "typescript", ".java": "java", ".kt": "kotlin", ".scala": "scala", ".c": "c", ".h": "c",
	".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp", ".rs": "rust", ".rb": "ruby", ".php": "php", ".swift": "swift",
	".lua": "lua", ".sql": "sql", ".sh": "bash", ".bash": "bash", ".ps1": "powershell", ".proto": "proto", ".tf": "hcl",
}

// maxSymbolLines is how many lines of a symbol are one section.
const maxSymbolLines = 60

// declaration is the line that a symbol begins with, whatever the language: words that qualify it,
// then one that says what it is; a function of C; or a method with words that qualify it.
var declaration = regexp.MustCompile(`^(?i:` +
	`[ \t]*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|open|sealed|data|pub(?:\([^)]*\))?|unsafe|extern|virtual|inline|partial|suspend|declare|local)[ \t]+)*` +
	`(?:func|function\*?|fn|fun|def|class|interface|struct|enum|trait|impl|type|module|namespace|object|record|protocol|extension|mod|message|service|resource|macro_rules!|create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|index))[ \t(]+[^=;]*` +
	`|[ \t]*(?:public|private|protected|internal|static)[ \t][\w<>\[\], \t]*\([^;]*` +
	`|[a-z_][\w*& \t:<>,]*[ \t*&][\w:~]+\([^;]*` +
	`|[\w-]+[ \t]*\(\)[ \t]*\{.*` +
	`)$`)

// commentLine is a line of a comment, with its mark.
var commentLine = regexp.MustCompile(`^[ \t]*(?:///?!?|//|#+|--+|;+|/\*+|\*+/?|"""|''')[ \t]?`)

// parseSource reads source code: what its file says at its beginning, and then a section for each
// symbol, with the comment above it and its code. Anchors are line ranges.
func parseSource(in input) (Text, error) {
	facts := Text{Title: path.Base(in.name)}
	reader := &sourceReader{outline: newOutline(), language: languages[strings.ToLower(path.Ext(in.name))]}
	for part, err := range in.textParts(cutAtGap) {
		if err != nil {
			return Text{}, &BrokenError{Name: in.name, Format: "source code", Err: err}
		}
		if part.more {
			part.text = strings.TrimSuffix(part.text, "\n")
		}
		reader.lines, reader.before = strings.Split(part.text, "\n"), part.line
		reader.readSymbols()
		if _, err := in.spill(facts, reader.outline); err != nil {
			return Text{}, err
		}
	}
	facts.Sections = reader.outline.finished()
	return facts, nil
}

// readSymbols reads the lines of a part.
func (r *sourceReader) readSymbols() {
	begin, head := 0, true
	for at, line := range r.lines {
		if !isDeclaration(line) {
			continue
		}
		first := at // of the comment above it
		for first > begin && commentLine.MatchString(r.lines[first-1]) {
			first--
		}
		r.addSymbol(begin, first, head)
		begin, head = first, false
	}
	r.addSymbol(begin, len(r.lines), head)
}

// maxDeclaration is the longest line that is taken for a declaration, in bytes.
const maxDeclaration = 300

func isDeclaration(line string) bool {
	trimmed := strings.TrimSpace(line)
	for _, word := range []string{"return ", "else", "if ", "for ", "while ", "switch ", "case ", "new ", "throw "} {
		if strings.HasPrefix(trimmed, word) {
			return false
		}
	}
	return len(line) < maxDeclaration && !commentLine.MatchString(line) && declaration.MatchString(line)
}

type sourceReader struct {
	outline  *outline
	language string
	lines    []string
	before   int // lines of the parts before
}

// addSymbol adds the lines from one on and before another, counted from 0. head tells that they
// stand before the first symbol of a part.
func (r *sourceReader) addSymbol(begin, end int, head bool) {
	code := begin
	var comment []string
	for ; code < end && commentLine.MatchString(r.lines[code]); code++ {
		said := commentLine.ReplaceAllString(r.lines[code], "")
		comment = append(comment, strings.TrimSuffix(strings.TrimSpace(said), "*/"))
	}
	if strings.TrimSpace(strings.Join(r.lines[begin:end], "")) == "" {
		return
	}
	if head {
		r.outline.continued().Anchor = r.anchor(begin, min(end, code+maxSymbolLines))
	} else {
		declared := r.lines[min(code, end-1)]
		level := 1
		if strings.TrimLeft(declared, " \t") != declared {
			level = 2
		}
		r.outline.heading(level, oneLine(strings.TrimRight(declared, " \t{:(")), r.anchor(begin, min(end, code+maxSymbolLines)))
	}
	for paragraph := range strings.SplitSeq(strings.Join(comment, "\n"), "\n\n") {
		r.outline.add(Paragraph, oneLine(paragraph))
	}
	for ; code < end; code += maxSymbolLines {
		last := min(end, code+maxSymbolLines)
		if code > begin+len(comment) {
			r.outline.continued().Anchor = r.anchor(code, last)
		}
		r.outline.code(r.language, strings.Join(r.lines[code:last], "\n"))
	}
}

// anchor names the lines from one on and before another, counted from 0.
func (r *sourceReader) anchor(begin, end int) string {
	return lineRange(r.before+begin+1, r.before+end)
}
