package answer

import (
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

// TestAgentsWaitAsLongAsTheirModels has models that may take longer than agents otherwise.
func TestAgentsWaitAsLongAsTheirModels(t *testing.T) {
	model := func(timeout time.Duration) llm.Model {
		made, err := openai.New(openai.Options{BaseURL: "http://127.0.0.1:1", Model: "m", RequestTimeout: timeout, Gate: gate.Options{Retries: 2}})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	without := timeoutsFor(Models{})
	if without != (timeouts{understand: searchTimeout, write: writeTimeout, request: requestTimeout}) {
		t.Errorf("without models: %+v", without)
	}
	with := timeoutsFor(Models{Understand: model(time.Minute), Answer: model(10 * time.Minute)})
	if with.understand < 3*time.Minute || with.write < 30*time.Minute || with.request <= with.write || with.request <= 2*with.understand {
		t.Errorf("with models: %+v", with)
	}
}
