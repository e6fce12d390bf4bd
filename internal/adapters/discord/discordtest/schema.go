package discordtest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	textmessage "golang.org/x/text/message"
)

//go:embed testdata/openapi.json.gz
var description []byte

const (
	descriptionURL = "discord:openapi"
	schemasPath    = descriptionURL + "#/components/schemas/"
)

// schemas compiles those parts of Discord's description that are asked for, each once.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// official is read once for the whole process: reading it takes some 50 ms.
var official = sync.OnceValue(func() *schemas {
	unzipped, err := gzip.NewReader(bytes.NewReader(description))
	if err != nil {
		panic("discordtest: the embedded description: " + err.Error())
	}
	document, err := jsonschema.UnmarshalJSON(unzipped)
	if err != nil {
		panic("discordtest: the embedded description: " + err.Error())
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // a $ref reads neither files nor addresses
	compiler.AssertFormat()
	if err := compiler.AddResource(descriptionURL, document); err != nil {
		panic("discordtest: the embedded description: " + err.Error())
	}
	return &schemas{compiler: compiler, compiled: map[string]*jsonschema.Schema{}}
})

func (s *schemas) getSchema(name string) *jsonschema.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.compiled[name]; found != nil {
		return found
	}
	compiled, err := s.compiler.Compile(schemasPath + name)
	if err != nil {
		panic(fmt.Sprintf("discordtest: schema %s: %v", name, err))
	}
	s.compiled[name] = compiled
	return compiled
}

// checkSchema checks a JSON text against a schema of the description by its name.
func checkSchema(name string, text []byte) *refusal {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return newRefusal(badRequest, codeInvalidJSON)
	}
	err = official().getSchema(name).Validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		panic("discordtest: validate: " + err.Error())
	}
	var form formErrors
	collectErrors(invalid, &form)
	return form.toRefusal()
}

var english = textmessage.NewPrinter(language.English)

// collectErrors gathers what is wrong at the leaves of a validation error. Of the branches of a
// choice it keeps the one that went wrong deepest: that is what was meant.
func collectErrors(invalid *jsonschema.ValidationError, into *formErrors) {
	causes := invalid.Causes
	if len(causes) == 0 {
		into.addError(invalid.InstanceLocation, "BASE_TYPE_INVALID", invalid.ErrorKind.LocalizedString(english))
		return
	}
	path := invalid.ErrorKind.KeywordPath()
	if len(path) > 0 && (path[len(path)-1] == "oneOf" || path[len(path)-1] == "anyOf") {
		best := causes[0]
		for _, cause := range causes[1:] {
			if isMistyped(best) && !isMistyped(cause) || isMistyped(best) == isMistyped(cause) && errorDepth(cause) > errorDepth(best) {
				best = cause
			}
		}
		causes = []*jsonschema.ValidationError{best}
	}
	for _, cause := range causes {
		collectErrors(cause, into)
	}
}

// isMistyped reports whether a branch is for things of another type than the one given: its
// "type", one level below where the branch begins, is none of those that it takes.
func isMistyped(branch *jsonschema.ValidationError) bool {
	at := len(branch.InstanceLocation)
	var search func(*jsonschema.ValidationError) bool
	search = func(one *jsonschema.ValidationError) bool {
		path := one.InstanceLocation
		if len(one.Causes) == 0 && len(path) == at+1 && path[at] == "type" {
			return true
		}
		return slices.ContainsFunc(one.Causes, search)
	}
	return search(branch)
}

// errorDepth returns how far below the root an error lies at its deepest.
func errorDepth(invalid *jsonschema.ValidationError) int {
	deepest := len(invalid.InstanceLocation)
	for _, cause := range invalid.Causes {
		deepest = max(deepest, errorDepth(cause))
	}
	return deepest
}
