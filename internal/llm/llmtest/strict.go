package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// What strict structured output allows at most.
const (
	maxSchemaDepth      = 10
	maxSchemaProperties = 5000
)

// unsupported are the keywords that strict structured output does not know.
var unsupported = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties",
	"unevaluatedProperties", "unevaluatedItems", "propertyNames", "minProperties", "maxProperties", "contains",
	"minContains", "maxContains", "uniqueItems", "prefixItems",
}

// schemaNode is what the rules look at in a schema.
type schemaNode struct {
	Type                 json.RawMessage            `json:"type"`
	Properties           map[string]json.RawMessage `json:"properties"`
	Required             []string                   `json:"required"`
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	Items                json.RawMessage            `json:"items"`
	AnyOf                []json.RawMessage          `json:"anyOf"`
	Defs                 map[string]json.RawMessage `json:"$defs"`
	Ref                  string                     `json:"$ref"`
	Enum                 []json.RawMessage          `json:"enum"`
	Const                json.RawMessage            `json:"const"`
}

// checkStrict checks a schema by the rules of strict structured output.
func checkStrict(schema json.RawMessage) error {
	var root schemaNode
	if err := json.Unmarshal(schema, &root); err != nil {
		return err
	}
	if string(root.Type) != `"object"` || root.AnyOf != nil {
		return errors.New("the root must be of type object, and no anyOf")
	}
	properties := 0
	if err := checkNode(schema, "#", 0, &properties); err != nil {
		return err
	}
	if properties > maxSchemaProperties {
		return fmt.Errorf("%d properties, at most %d", properties, maxSchemaProperties)
	}
	return nil
}

func checkNode(schema json.RawMessage, at string, depth int, properties *int) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("%s: nested more than %d deep", at, maxSchemaDepth)
	}
	var keywords map[string]json.RawMessage
	var node schemaNode
	if err := errors.Join(json.Unmarshal(schema, &keywords), json.Unmarshal(schema, &node)); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	for _, keyword := range unsupported {
		if _, there := keywords[keyword]; there {
			return fmt.Errorf("%s: %q is not permitted", at, keyword)
		}
	}
	types, err := node.types()
	if err != nil {
		return fmt.Errorf("%s: type: %w", at, err)
	}
	if len(types) == 0 && node.AnyOf == nil && node.Ref == "" && node.Enum == nil && node.Const == nil {
		return fmt.Errorf("%s: schema must have a 'type' key", at)
	}
	if slices.Contains(types, "object") {
		if err := node.checkObject(at); err != nil {
			return err
		}
	}
	if slices.Contains(types, "array") && node.Items == nil {
		return fmt.Errorf("%s: array schema missing items", at)
	}
	*properties += len(node.Properties)
	return node.checkChildren(at, depth+1, properties)
}

// types are those of the node, of which there may be one or a list.
func (n schemaNode) types() ([]string, error) {
	if n.Type == nil {
		return nil, nil
	}
	var one string
	if err := json.Unmarshal(n.Type, &one); err == nil {
		return []string{one}, nil
	}
	var several []string
	err := json.Unmarshal(n.Type, &several)
	return several, err
}

func (n schemaNode) checkObject(at string) error {
	if string(n.AdditionalProperties) != "false" {
		return fmt.Errorf("%s: 'additionalProperties' is required to be supplied and to be false", at)
	}
	names := slices.Sorted(maps.Keys(n.Properties))
	if !slices.Equal(names, slices.Sorted(slices.Values(n.Required))) {
		return fmt.Errorf("%s: 'required' must be an array with every key in properties (%q)", at, names)
	}
	return nil
}

func (n schemaNode) checkChildren(at string, depth int, properties *int) error {
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		if err := checkNode(n.Properties[name], at+"/properties/"+name, depth, properties); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Defs)) {
		if err := checkNode(n.Defs[name], at+"/$defs/"+name, depth, properties); err != nil {
			return err
		}
	}
	for i, option := range n.AnyOf {
		if err := checkNode(option, fmt.Sprintf("%s/anyOf/%d", at, i), depth, properties); err != nil {
			return err
		}
	}
	if n.Items == nil {
		return nil
	}
	return checkNode(n.Items, at+"/items", depth, properties)
}
