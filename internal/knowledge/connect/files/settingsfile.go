package files

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// folderSettings is what a SettingsFile says, by key. What it does not say is inherited
// from the folder above.
type folderSettings map[string][]string

// The keys of a SettingsFile; audience has a list, the others one text.
const (
	audienceKey = "audience"
	ownerKey    = "owner"
	kindKey     = "kind"
	urlBaseKey  = "url_base"
	urlStyleKey = "url_style"
)

var settingsKeys = []string{audienceKey, ownerKey, kindKey, urlBaseKey, urlStyleKey}

// decodeSettings reads a SettingsFile strictly: what it does not know is an error. It walks
// the syntax tree itself, for the YAML library's own decoding panics at some files that
// have anchors and tags; this knows neither.
func decodeSettings(data []byte) (folderSettings, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8 text")
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("it holds more than one YAML document")
	}
	given := make(folderSettings)
	for _, document := range file.Docs {
		if isEmpty(document.Body) {
			continue
		}
		mapping, ok := document.Body.(ast.MapNode)
		if !ok {
			return nil, errors.New("want keys with values, such as \"audience: [group:legal]\"")
		}
		if err := given.addAll(mapping); err != nil {
			return nil, err
		}
	}
	return given, nil
}

func syntaxError(err error) error {
	var positioned yaml.Error
	if errors.As(err, &positioned) && positioned.GetToken() != nil {
		return fmt.Errorf("line %d: %s", positioned.GetToken().Position.Line, positioned.GetMessage())
	}
	return err
}

func isEmpty(node ast.Node) bool {
	return node == nil || node.Type() == ast.NullType || node.Type() == ast.CommentGroupType
}

func (s folderSettings) addAll(mapping ast.MapNode) error {
	for pairs := mapping.MapRange(); pairs.Next(); {
		key, ok := pairs.Key().(*ast.StringNode)
		if !ok || !slices.Contains(settingsKeys, key.Value) {
			return fmt.Errorf("%.60q: unknown key, want one of %s", pairs.Key().GetToken().Value, strings.Join(settingsKeys, ", "))
		}
		if _, ok := s[key.Value]; ok {
			return fmt.Errorf("%s: stands there twice", key.Value)
		}
		values := []ast.Node{pairs.Value()}
		if key.Value == audienceKey {
			list, ok := pairs.Value().(*ast.SequenceNode)
			if !ok {
				return errors.New("audience: want a list, such as [\"group:legal\"]")
			}
			values = list.Values
		}
		s[key.Value] = []string{}
		for _, value := range values {
			text, ok := value.(*ast.StringNode)
			if !ok {
				return fmt.Errorf("%s: want plain text", key.Value)
			}
			s[key.Value] = append(s[key.Value], text.Value)
		}
	}
	return nil
}
