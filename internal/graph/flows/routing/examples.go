package routing

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

// Example is one message.
type Example struct {
	Text     string `json:"text"`
	Attached bool   `json:"attached,omitempty"` // files come with it
	Running  string `json:"running,omitempty"`  // the flow that its thread is in
	Want     string `json:"want"`               // the flow that it is meant for
	// Hard tells that the rules alone are known to take it for something else.
	Hard bool `json:"hard,omitempty"`
}

//go:embed examples.jsonl
var storedExamples []byte

// LoadExamples gives the examples.
func LoadExamples() ([]Example, error) {
	var all []Example
	for number, line := range bytes.Split(bytes.TrimSpace(storedExamples), []byte("\n")) {
		var read Example
		if err := json.Unmarshal(line, &read); err != nil {
			return nil, fmt.Errorf("example %d of routing: %w", number+1, err)
		}
		all = append(all, read)
	}
	return all, nil
}
