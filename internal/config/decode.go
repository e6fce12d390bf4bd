package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The lists, which the environment can't set, but for one model.
const (
	sourcesKey = "sources"
	modelsKey  = "models"
)

// decoder walks the syntax tree of one file. The YAML library's own decoding stops at
// the first fault; this finds them all.
type decoder struct {
	name   string // of the file, for faults
	from   base
	host   Host // which has the keys of models
	faults []error
}

// decode sets what a file says over the values in config and gives all that is wrong
// with it. Relative paths are taken from the file's folder.
func decode(config *Config, path string, data []byte, host Host) []error {
	d := &decoder{name: path, from: base{dir: filepath.Dir(path), home: host.Home}, host: host}
	d.document(data, func(root ast.Node) { d.config(config, root) })
	return d.faults
}

// document calls found with the root of a file that is not empty.
func (d *decoder) document(data []byte, found func(root ast.Node)) {
	if !utf8.Valid(data) {
		d.faults = append(d.faults, fmt.Errorf("%s: is not UTF-8 text", d.name))
		return
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		d.syntaxFault(err)
		return
	}
	if len(file.Docs) > 1 {
		d.faults = append(d.faults, fmt.Errorf("%s: holds %d YAML documents, want one", d.name, len(file.Docs)))
		return
	}
	for _, document := range file.Docs {
		if !isNothing(document.Body) {
			found(document.Body)
		}
	}
}

func (d *decoder) syntaxFault(err error) {
	var positioned yaml.Error
	if errors.As(err, &positioned) && positioned.GetToken() != nil {
		position := positioned.GetToken().Position
		err = fmt.Errorf("%s:%d: %s", d.name, position.Line, positioned.GetMessage())
	} else {
		err = fmt.Errorf("%s: %w", d.name, err)
	}
	d.faults = append(d.faults, err)
}

// fault records what is wrong at a node; key names the setting.
func (d *decoder) fault(node ast.Node, key string, err error) {
	d.faults = append(d.faults, fmt.Errorf("%s:%d: %s: %w", d.name, lineOf(node), key, err))
}

func lineOf(node ast.Node) int {
	token := node.GetToken()
	if token == nil {
		return 1
	}
	return token.Position.Line
}

// isNothing says whether a key was left without a value, which leaves the default.
func isNothing(node ast.Node) bool {
	return node == nil || node.Type() == ast.NullType || node.Type() == ast.CommentGroupType
}

// config reads the top level and the sections below it.
func (d *decoder) config(config *Config, root ast.Node) {
	d.section(root, "", keysOf(settings, sourcesKey, modelsKey), func(key string, value ast.Node) {
		switch key {
		case sourcesKey:
			d.sources(config, value, false)
			return
		case modelsKey:
			d.models(config, value)
			return
		}
		if hasSetting(settings, key) {
			d.read(config, findSetting(settings, key), key, value)
			return
		}
		d.section(value, key+".", keysOf(settings), func(key string, value ast.Node) {
			d.read(config, findSetting(settings, key), key, value)
		})
	})
}

// section calls found for each key of a mapping that is among the known ones, or is
// the beginning of one; keys are dotted and start with prefix.
func (d *decoder) section(node ast.Node, prefix string, known []string, found func(key string, value ast.Node)) {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		where := strings.TrimSuffix(prefix, ".")
		if where == "" {
			where = "the file"
		}
		d.fault(node, where, errors.New("want keys with values, such as \"key: value\""))
		return
	}
	siblings := level(known, prefix)
	for pairs := mapping.MapRange(); pairs.Next(); {
		name := keyText(pairs.Key())
		switch {
		case !slices.Contains(siblings, name):
			d.fault(pairs.Key(), prefix+name, unknownKey(name, siblings))
		case !isNothing(pairs.Value()):
			found(prefix+name, pairs.Value())
		}
	}
}

// level gives the names that can follow prefix in the known dotted keys.
func level(known []string, prefix string) []string {
	var names []string
	for _, key := range known {
		rest, ok := strings.CutPrefix(key, prefix)
		name, _, _ := strings.Cut(rest, ".")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// models reads the list of models.
func (d *decoder) models(config *Config, node ast.Node) {
	d.entries(node, modelsKey, "- roles: [answer]", func(prefix string, entry ast.Node) {
		model := newModel()
		before := len(d.faults)
		given := d.readEntry(&model, place{prefix, entry}, modelSettings, "roles", "model")
		at := func(key string) ast.Node {
			if value, ok := given[key]; ok {
				return value
			}
			return entry
		}
		if given["roles"] != nil && len(model.Roles) == 0 && len(d.faults) == before {
			d.fault(at("roles"), prefix+"roles", errors.New("is empty: say what the model does"))
		}
		for _, role := range model.Roles {
			if _, taken := config.Model(role); taken {
				d.fault(at("roles"), prefix+"roles", fmt.Errorf("%s: another model has this role", role))
			}
		}
		void, kind := ofVectors, "a model that talks"
		if model.Has(RoleEmbed) {
			void, kind = ofReplies, "a model that makes vectors"
		}
		for _, key := range void {
			if value, ok := given[key]; ok && len(model.Roles) > 0 {
				d.fault(value, prefix+key, fmt.Errorf("means nothing for %s: remove it", kind))
			}
		}
		if len(d.faults) == before { // else what does not fit together may follow from them
			for _, f := range append(model.complete(), model.find(d.host)...) {
				d.fault(at(f.key), prefix+f.key, f.err)
			}
		}
		config.Models = append(config.Models, model)
	})
}

// entries calls found for each entry of a list; prefix is its key, with a dot. begins is
// an example of how an entry begins.
func (d *decoder) entries(node ast.Node, key, begins string, found func(prefix string, entry ast.Node)) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		d.fault(node, key, fmt.Errorf("want a list: each entry begins with %q", begins))
		return
	}
	for i, entry := range list.Values {
		found(fmt.Sprintf("%s[%d].", key, i), entry)
	}
}

// place is an entry of a list, and the beginning of its keys.
type place struct {
	prefix string
	entry  ast.Node
}

// readEntry reads the keys of an entry, and gives the values that stood there.
func (d *decoder) readEntry(target any, at place, settings []setting, required ...string) (given map[string]ast.Node) {
	given = make(map[string]ast.Node)
	d.section(at.entry, at.prefix, prefixed(at.prefix, keysOf(settings)), func(key string, value ast.Node) {
		name := strings.TrimPrefix(key, at.prefix)
		given[name] = value
		d.read(target, findSetting(settings, name), key, value)
	})
	for _, name := range required {
		if _, isMapping := at.entry.(ast.MapNode); isMapping && given[name] == nil {
			d.fault(at.entry, at.prefix+name, errors.New("is missing"))
		}
	}
	return given
}

// read checks and stores the value of one setting.
func (d *decoder) read(target any, s setting, key string, node ast.Node) {
	nodes := []ast.Node{node}
	if s.list {
		list, ok := node.(*ast.SequenceNode)
		if !ok {
			d.fault(node, key, errors.New("want a list, such as [\"a\", \"b\"]"))
			return
		}
		nodes = list.Values
	}
	for _, node := range nodes {
		text, ok := scalarText(node)
		if !ok {
			d.fault(node, key, errors.New("want a single plain value"))
			continue
		}
		if err := s.set(target, text, d.from); err != nil {
			d.fault(node, key, err)
		}
	}
}

// scalarText gives a value as it was written, without its quotes. Anchors, aliases
// and tags are no plain values: a configuration that says what it means needs none.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func keyText(key ast.MapKeyNode) string {
	if text, ok := scalarText(key); ok {
		return text
	}
	return key.GetToken().Value
}

func keysOf(settings []setting, more ...string) []string {
	keys := slices.Clone(more)
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	return keys
}

func prefixed(prefix string, keys []string) []string {
	for i := range keys {
		keys[i] = prefix + keys[i]
	}
	return keys
}

func hasSetting(settings []setting, key string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return s.key == key })
}

// findSetting gives the setting of a key that there is.
func findSetting(settings []setting, key string) setting {
	return settings[slices.IndexFunc(settings, func(s setting) bool { return s.key == key })]
}

// secrets are names under which a key is often given, where it must not stand.
var secrets = []string{"key", "api_key", "apikey", "api-key", "token", "secret", "password"}

// unknownKey names the nearest key that could have been meant.
func unknownKey(name string, known []string) error {
	if slices.Contains(secrets, strings.ToLower(name)) && slices.Contains(known, "key_env") {
		return errors.New("a secret never stands in this file: name the environment variable that holds it with key_env, or a file with key_file")
	}
	nearest := NearestName(name, known)
	if nearest == "" {
		return fmt.Errorf("unknown key, want one of %s", strings.Join(known, ", "))
	}
	return fmt.Errorf("unknown key, did you mean %s?", nearest)
}

// NearestName gives the name among those known that was probably meant, "" where none is like it.
func NearestName(name string, known []string) string {
	nearest, least := "", len(name)/2+1
	for _, key := range known {
		if d := distance(name, key); d < least {
			nearest, least = key, d
		}
	}
	return nearest
}

// distance is the number of letters to change, add or drop to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
