package routing_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
)

var all = []string{"answer", "analyze", "context", "repo", "inspect", "page", "echo"}

func router(t *testing.T, options routing.Options) *routing.Router {
	t.Helper()
	if options.Flows == nil {
		options.Flows = all
	}
	options.First = "answer"
	made, err := routing.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Each example goes where it is meant to go, but for those that are known to be too hard
// for rules; one of those that is not any more is to be marked so.
func TestExamples(t *testing.T) {
	by := router(t, routing.Options{})
	examples, err := routing.LoadExamples()
	if err != nil {
		t.Fatal(err)
	}
	if len(examples) < 80 {
		t.Errorf("%d examples", len(examples))
	}
	right := 0
	for _, example := range examples {
		got, err := by.Route(t.Context(), flows.Message{Text: example.Text, Attached: example.Attached, Running: example.Running})
		if err != nil {
			t.Fatal(err)
		}
		if got.Flow == example.Want {
			right++
		}
		if (got.Flow == example.Want) == example.Hard {
			t.Errorf("%q in %q goes to %q (%s: %s), want %q, hard: %v", example.Text, example.Running, got.Flow, got.Rule, got.Reason, example.Want, example.Hard)
		}
		if got.Rule == "" || got.Reason == "" || got.Text == "" && example.Text != "analyze @handbook" {
			t.Errorf("%q: %+v", example.Text, got)
		}
	}
	t.Logf("%d of %d", right, len(examples))
}

func TestFlowsThatAreNotThere(t *testing.T) {
	by := router(t, routing.Options{Flows: []string{"answer", "echo"}})
	got, err := by.Route(t.Context(), flows.Message{Text: "repo: where is the retry policy?"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Flow != "answer" || got.Text != "where is the retry policy?" || got.Reason != `it begins with "repo:"; there is no flow "repo" here` {
		t.Errorf("got %+v", got)
	}
	if _, err := routing.New(routing.Options{Flows: []string{"echo"}, First: "answer"}); err == nil {
		t.Error("a first flow that is not there is taken")
	}
}

// TestQuestionsForManifests go to the flow of repositories where some may be read.
func TestQuestionsForManifests(t *testing.T) {
	asks := func(question string) bool { return question == "which of our services still use go-redis v8?" }
	for name, test := range map[string]struct {
		options routing.Options
		message flows.Message
		want    string
	}{
		"repositories may be read":   {routing.Options{AsksManifests: asks}, flows.Message{Text: "which of our services still use go-redis v8?"}, "repo"},
		"in a thread":                {routing.Options{AsksManifests: asks}, flows.Message{Text: "which of our services still use go-redis v8?", Running: "answer"}, "repo"},
		"as a question all the same": {routing.Options{AsksManifests: asks}, flows.Message{Text: "/cairn ask which of our services still use go-redis v8?"}, "answer"},
		"another question":           {routing.Options{AsksManifests: asks}, flows.Message{Text: "where is the retry policy?"}, "answer"},
		"none may be read":           {routing.Options{}, flows.Message{Text: "which of our services still use go-redis v8?"}, "answer"},
	} {
		got, err := router(t, test.options).Route(t.Context(), test.message)
		if err != nil || got.Flow != test.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestQuestionsAboutTheConfiguredApp go to the flow that reads its screens, and so does what comes
// with a recording.
func TestQuestionsAboutTheConfiguredApp(t *testing.T) {
	flowsThere := []string{"answer", "analyze", "inspect", "repo"}
	with, without := router(t, routing.Options{Flows: flowsThere, App: true}), router(t, routing.Options{Flows: flowsThere})
	for _, test := range []struct {
		message       flows.Message
		with, without string
	}{
		{flows.Message{Text: "What happens when I tap Save order?"}, "inspect", "answer"},
		{flows.Message{Text: "what does it do when the user presses Log out?"}, "answer", "answer"},
		{flows.Message{Text: "why is the selected widget grey?"}, "inspect", "answer"},
		{flows.Message{Text: "what happens after my parental leave?"}, "answer", "answer"},
		{flows.Message{Text: "which request fails?", Attached: true, Recorded: true}, "inspect", "inspect"},
		{flows.Message{Text: "analyze: these files", Attached: true, Recorded: true}, "analyze", "analyze"},
		{flows.Message{Text: "which request fails?", Attached: true}, "answer", "answer"},
	} {
		for by, want := range map[flows.Router]string{with: test.with, without: test.without} {
			got, err := by.Route(t.Context(), test.message)
			if err != nil || got.Flow != want {
				t.Errorf("%q goes to %q, want %q: %s (%v)", test.message.Text, got.Flow, want, got.Reason, err)
			}
		}
	}
}

// TestQuestionsAboutAWebPage go to the flow that may look at it.
func TestQuestionsAboutAWebPage(t *testing.T) {
	isPage := func(address string) bool { return strings.HasPrefix(address, "https://shop.example/app/") }
	by := router(t, routing.Options{Flows: []string{"answer", "inspect", "repo"}, IsPage: isPage})
	for text, want := range map[string]string{
		"what happens when I press Save on https://shop.example/app/checkout?":     "inspect",
		"why is the Save button grey on <https://shop.example/app/checkout>?":      "inspect",
		"please press Save on https://shop.example/app/checkout":                   "inspect",
		"who owns https://shop.example/app/checkout?":                              "inspect",
		"FYI https://shop.example/app/checkout":                                    "answer",
		"what happens when I press Save on https://other.example/app/checkout?":    "answer",
		"what does https://shop.example/handbook say about parental leave?":        "answer",
		"/cairn ask what happens when I press Save on https://shop.example/app/a?": "answer",
	} {
		got, err := by.Route(t.Context(), flows.Message{Text: text})
		if err != nil || got.Flow != want {
			t.Errorf("%q goes to %q, want %q: %s (%v)", text, got.Flow, want, got.Reason, err)
		}
	}
}

// TestAThreadAboutAScreenGoesOn keeps what points at the widget that was answered about in the
// flow, and gives other questions to the documents.
func TestAThreadAboutAScreenGoesOn(t *testing.T) {
	by := router(t, routing.Options{Flows: []string{"answer", "inspect", "repo"}})
	for text, want := range map[string]string{
		"inspect: ./shop what does button2 do?":      "inspect",
		"and its styles?":                            "inspect",
		"what about the other button?":               "inspect",
		"what happens when I press it?":              "inspect",
		"press it":                                   "inspect",
		"and who owns it?":                           "inspect",
		"ok, please click it":                        "inspect",
		"how many days of parental leave are there?": "answer",
		"who approves travel?":                       "answer",
	} {
		got, err := by.Route(t.Context(), flows.Message{Text: text, Running: "inspect"})
		if err != nil || got.Flow != want {
			t.Errorf("%q goes to %q: %s (%v)", text, got.Flow, got.Reason, err)
		}
	}
	got, err := by.Route(t.Context(), flows.Message{Text: "what about the other policy?", Running: "answer"})
	if err != nil || got.Flow != "answer" {
		t.Errorf("%+v, %v", got, err)
	}
}
