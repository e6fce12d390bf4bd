package jsx

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
)

var loaders = map[string]api.Loader{
	".js": api.LoaderJSX, ".jsx": api.LoaderJSX, ".mjs": api.LoaderJSX, ".cjs": api.LoaderJSX,
	".ts": api.LoaderTS, ".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX,
}

// Reads tells whether Parse reads files of that name.
func Reads(name string) bool {
	_, ok := loaders[strings.ToLower(path.Ext(name))]
	return ok
}

// Elements are calls of a member of a module, so that a function of that name in a file is none.
const (
	elementModule = "react/jsx-dev-runtime"
	elementMember = "jsxDEV"
)

// Parse reads a file. What is wrong with it is given line by line, and then there is no File.
func Parse(name string, content []byte) (*File, []*SyntaxError) {
	if wrong := checkLimits(name, content); wrong != nil {
		return nil, []*SyntaxError{wrong}
	}
	text := strings.ToValidUTF8(string(content), "\uFFFD")
	made := api.Transform(text, api.TransformOptions{
		Loader: loaders[strings.ToLower(path.Ext(name))], Sourcefile: "source" + path.Ext(name), LogLevel: api.LogLevelSilent, LogLimit: maxErrors,
		JSX: api.JSXAutomatic, JSXDev: true, Format: api.FormatCommonJS, Target: api.ES2019, TsconfigRaw: "{}",
		Supported: map[string]bool{
			"dynamic-import": false, "optional-chain": true, "nullish-coalescing": true, "class-field": true,
			"async-generator": false, "for-await": false,
		},
		Sourcemap: api.SourceMapExternal, MinifyWhitespace: true, LegalComments: api.LegalCommentsNone,
	})
	if len(made.Errors) > 0 {
		return nil, convertErrors(name, made.Errors)
	}
	read := &File{Path: name, lines: strings.Split(text, "\n")}
	if strings.TrimSpace(string(made.Code)) == "" {
		return read, nil
	}
	places, err := sourcemap.Parse("", made.Map)
	if err != nil {
		return nil, []*SyntaxError{{Path: name, Text: fmt.Sprintf("its source map can't be read: %v", err)}}
	}
	w := &walker{file: read, code: string(made.Code), places: places, namespaces: make(map[string]string)}
	w.lineStarts, w.firstRow = lineStarts(w.code), findFirstRow(made.Map)
	program, err := parser.ParseFile(nil, "", w.code, parser.IgnoreRegExpErrors, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, w.convertParserErrors(err)
	}
	w.walkProgram(program)
	return read, nil
}

// maxErrors is how many mistakes of a file are told of.
const maxErrors = 20

func convertErrors(name string, messages []api.Message) []*SyntaxError {
	var all []*SyntaxError
	for _, message := range messages {
		wrong := &SyntaxError{Path: name, Text: message.Text}
		if message.Location != nil {
			wrong.Line = message.Location.Line
		}
		all = append(all, wrong)
	}
	return all
}

func (w *walker) convertParserErrors(err error) []*SyntaxError {
	list, ok := errors.AsType[parser.ErrorList](err)
	if !ok {
		return []*SyntaxError{{Path: w.file.Path, Text: err.Error()}}
	}
	var all []*SyntaxError
	for _, wrong := range list[:min(len(list), maxErrors)] {
		line, _ := w.mapPlace(wrong.Position.Line, wrong.Position.Column-1)
		all = append(all, &SyntaxError{Path: w.file.Path, Line: line, Text: wrong.Message})
	}
	return all
}

func lineStarts(code string) []int {
	starts := []int{0}
	for i := range len(code) {
		if code[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// sourceOf returns the line, and the column from 0, that a place of the code has in the source;
// line 0 where it has none.
func (w *walker) sourceOf(at file.Idx) (line, column int) {
	offset := int(at) - 1
	row := sort.SearchInts(w.lineStarts, offset+1) - 1
	if row < 0 {
		return 0, 0
	}
	return w.mapPlace(row+1, offset-w.lineStarts[row])
}

func (w *walker) mapPlace(row, column int) (line, sourceColumn int) {
	_, _, line, sourceColumn, ok := w.places.Source(row, column)
	switch {
	case ok:
		return line, sourceColumn
	case row == w.firstRow:
		return 1, 0
	}
	return 0, 0
}

// findFirstRow gives the row of the code, from 1, that begins with the beginning of the source; 0
// where none does. The library leaves that place out of a map.
func findFirstRow(sourceMap []byte) int {
	var read struct{ Mappings string }
	if json.Unmarshal(sourceMap, &read) != nil {
		return 0
	}
	first := strings.TrimLeft(read.Mappings, ";")
	if !strings.HasPrefix(first, "AAAA") {
		return 0
	}
	return len(read.Mappings) - len(first) + 1
}

// lineOf is the line of a node in the source.
func (w *walker) lineOf(node ast.Node) int {
	line, _ := w.sourceOf(node.Idx0())
	return line
}

// nameAt reads the name that stands at a place of the source: "Wm.Button". The column counts
// from 0, in UTF-16 units.
func (f *File) nameAt(line, column int) string {
	if line < 1 || line > len(f.lines) {
		return ""
	}
	rest, passed := f.lines[line-1], 0
	for i, r := range rest {
		if passed >= column {
			rest = rest[i:]
			break
		}
		passed++
		if r > 0xFFFF {
			passed++
		}
	}
	rest = strings.TrimPrefix(rest, "<")
	end := strings.IndexFunc(rest, func(r rune) bool { return !isNamePart(r) })
	if end < 0 {
		return rest
	}
	return rest[:end]
}

func isNamePart(r rune) bool {
	return r == '.' || r == '_' || r == '$' || r == '-' || r == ':' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F
}
