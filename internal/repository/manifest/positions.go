package manifest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// positions are the lines of a file's values, 1-based, by their paths: the keys that lead to
// a value, and its number in an array. A value without a known line has none.
type positions map[string]int

// Bounds of the paths that positions have: no manifest nests its dependencies deeper.
const (
	maxPathDepth  = 8
	maxPathLength = 1024 // bytes
)

func (p positions) lineOf(path ...string) int { return p[joinPath(path)] }

func joinPath(path []string) string { return strings.Join(path, "\x00") }

func elementKey(number int) string { return strconv.Itoa(number) }

func (p positions) add(path []string, line int) {
	if len(path) > maxPathDepth {
		return
	}
	length := 0
	for _, key := range path {
		length += len(key) + 1
	}
	if length <= maxPathLength {
		p[joinPath(path)] = line
	}
}

// lineCounter tells the lines of growing offsets.
type lineCounter struct {
	content []byte
	offset  int
	line    int
}

// lineAt returns the line of an offset that is not smaller than the last one.
func (c *lineCounter) lineAt(offset int) int {
	offset = max(c.offset, min(offset, len(c.content)))
	c.line += bytes.Count(c.content[c.offset:offset], []byte{'\n'})
	c.offset = offset
	return c.line + 1
}

// jsonPositions returns the lines of the keys of a JSON document.
func jsonPositions(content []byte) positions {
	found := make(positions)
	decoder := json.NewDecoder(bytes.NewReader(content))
	counter := &lineCounter{content: content}
	type level struct {
		object bool
		keyed  bool // the next token of the object is a value
		next   int  // the number of the next element
	}
	var levels []level
	var path []string
	for {
		token, err := decoder.Token()
		if err != nil {
			return found
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			levels, path = levels[:len(levels)-1], path[:max(0, len(path)-1)]
			continue
		}
		if n := len(levels); n > 0 {
			top := &levels[n-1]
			switch {
			case top.object && !top.keyed:
				key, _ := token.(string)
				path, top.keyed = append(path[:n-1], key), true
				found.add(path, counter.lineAt(int(decoder.InputOffset())))
				continue
			case top.object:
				top.keyed = false
			default:
				path = append(path[:n-1], elementKey(top.next))
				top.next++
				found.add(path, counter.lineAt(int(decoder.InputOffset())))
			}
		}
		if delim, ok := token.(json.Delim); ok {
			levels = append(levels, level{object: delim == '{'})
		}
	}
}

// tomlPositions returns the lines of the keys and array elements of a TOML document.
func tomlPositions(content []byte) positions {
	reader := tomlReader{found: make(positions), elements: make(map[string]int), counter: &lineCounter{content: content}}
	reader.parser.Reset(content)
	for reader.parser.NextExpression() {
		reader.readExpression(reader.parser.Expression())
	}
	return reader.found
}

type tomlReader struct {
	parser   unstable.Parser
	found    positions
	table    []string       // the path of the table that the last header opened
	elements map[string]int // path of an array of tables → its tables so far
	counter  *lineCounter
}

func (r *tomlReader) readExpression(node *unstable.Node) {
	switch node.Kind {
	case unstable.Table:
		r.table = r.readKey(nil, node.Key())
	case unstable.ArrayTable:
		path := r.readKey(nil, node.Key())
		number := r.elements[joinPath(path)]
		r.elements[joinPath(path)]++
		path = append(path, elementKey(number))
		r.table = path
	case unstable.KeyValue:
		r.readValue(r.readKey(r.table, node.Key()), node.Value())
	}
}

// readKey adds the parts of a key, each of which may be a table of its own.
func (r *tomlReader) readKey(table []string, key unstable.Iterator) []string {
	path := append([]string{}, table...)
	for key.Next() {
		path = append(path, string(key.Node().Data))
		line := r.counter.lineAt(int(key.Node().Raw.Offset))
		if _, ok := r.found[joinPath(path)]; !ok {
			r.found.add(path, line)
		}
	}
	return path
}

func (r *tomlReader) readValue(path []string, value *unstable.Node) {
	if len(path) >= maxPathDepth {
		return
	}
	children := value.Children()
	switch value.Kind {
	case unstable.Array:
		for number := 0; children.Next(); {
			if children.Node().Kind == unstable.Comment {
				continue
			}
			element := append(append([]string{}, path...), elementKey(number))
			if children.Node().Kind == unstable.String {
				r.found.add(element, r.counter.lineAt(int(children.Node().Raw.Offset)))
			}
			r.readValue(element, children.Node())
			number++
		}
	case unstable.InlineTable:
		for children.Next() {
			r.readValue(r.readKey(path, children.Node().Key()), children.Node().Value())
		}
	}
}
