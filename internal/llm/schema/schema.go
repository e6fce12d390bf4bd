// Package schema checks what language models write against JSON Schemas: structured output, and
// the arguments of tools.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema. It may be used concurrently.
type Schema struct {
	name   string
	schema *jsonschema.Schema
}

// schemaURL is what schemas are called among themselves.
const schemaURL = "cairn:schema"

// Compile reads a JSON Schema (draft 2020-12), which errors call by its name.
func Compile(name string, schema json.RawMessage) (*Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // a $ref reads neither files nor addresses
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, err)
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, err)
	}
	return &Schema{name, compiled}, nil
}

// BreachError is how a text breaks a schema.
type BreachError struct {
	Detail string // for the model: may quote its text
	Safe   string // for errors: quotes nothing but the schema
}

// Error tells nothing of the text.
func (b *BreachError) Error() string { return b.Safe }

// Check validates JSON; nil where it follows the schema.
func (s *Schema) Check(text []byte) *BreachError {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return &BreachError{"it is not valid JSON", fmt.Sprintf("not JSON, for %q", s.name)}
	}
	err = s.schema.Validate(value)
	if err == nil {
		return nil
	}
	safe := fmt.Sprintf("does not follow %q", s.name)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		where := strings.TrimPrefix(invalid.SchemaURL, schemaURL)
		safe += fmt.Sprintf(": %s, at %s of the schema", strings.Join(invalid.ErrorKind.KeywordPath(), "/"), where)
	}
	return &BreachError{strings.TrimPrefix(err.Error(), "jsonschema validation failed with '"+schemaURL+"#'\n"), safe}
}
