package source

import (
	"bytes"
	"go/parser"
	gotoken "go/token"
	"strconv"
)

// parseGo reads a file of Go with the language's own parser, up to the end of its imports.
func parseGo(content []byte) Facts {
	files := gotoken.NewFileSet()
	// A broken file gives what was understood before the break.
	file, _ := parser.ParseFile(files, "", content, parser.ImportsOnly|parser.SkipObjectResolution) //nolint:errcheck // as said
	if file == nil || file.Name == nil {
		return Facts{}
	}
	facts := Facts{Package: file.Name.Name}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || path == "" {
			continue
		}
		facts.Imports = append(facts.Imports, Import{Path: path, Line: files.Position(spec.Pos()).Line})
	}
	if facts.Package == "main" {
		facts.Main = lineOf(content, "func main(")
	}
	return facts
}

// lineOf returns the number of the first line that begins with a text, 0 for none.
func lineOf(content []byte, beginning string) int {
	if bytes.HasPrefix(content, []byte(beginning)) {
		return 1
	}
	at := bytes.Index(content, []byte("\n"+beginning))
	if at < 0 {
		return 0
	}
	return bytes.Count(content[:at], []byte{'\n'}) + 2
}
