package buildcontext_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/buildcontext"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// documents is where the documents of the tests lie.
const documents = "../../../document/testdata"

func newFlow(t *testing.T, surveyor *survey.Surveyor) *buildcontext.Flow {
	t.Helper()
	flow, err := buildcontext.New(buildcontext.Options{Reader: document.NewReader(document.Options{Roots: []string{documents}}), Surveyor: surveyor})
	if err != nil {
		t.Fatal(err)
	}
	return flow
}

func run(t *testing.T, flow *buildcontext.Flow, request flows.Request) flows.Outcome {
	t.Helper()
	request.Run = "run"
	outcome, err := flow.Start(t.Context(), request, flows.Runtime{Store: graphtest.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got:\n%s\nwant:\n%s", name, got, want)
	}
}

func TestOverviewsByRules(t *testing.T) {
	for name, request := range map[string]flows.Request{
		"payments": {Text: "./payments Payment service"},
		"argo":     {Text: "Argo CD", Location: flows.Location{Place: flows.Folder, Name: "argo-cd/docs"}},
		"sparse":   {Text: "The mailer?", Attachments: []flows.Attachment{{Name: "mail.md", Text: "# Mailer\n\nThe mailer is a tool that sends letters."}}},
	} {
		t.Run(name, func(t *testing.T) {
			outcome := run(t, newFlow(t, nil), request)
			if len(outcome.Files) != 1 {
				t.Fatalf("%d files: %+v", len(outcome.Files), outcome)
			}
			golden(t, name+".golden", outcome.Text+"\n("+outcome.Note+")\n\n=== "+outcome.Files[0].Name+"\n"+string(outcome.Files[0].Content))
		})
	}
}
