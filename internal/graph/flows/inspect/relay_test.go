package inspect_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/inspect"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/inspect/inspecttest"
	"github.com/cairn-bot/cairn/internal/inspect/relay"
	"github.com/cairn-bot/cairn/internal/inspect/relay/relaytest"
	"github.com/cairn-bot/cairn/internal/repository"
)

// liveFlow is a flow that may use a relay, whose address it gives.
func liveFlow(t testing.TB) (*inspect.Flow, string) {
	t.Helper()
	server := relay.NewServer(relay.ServerOptions{})
	web := httptest.NewServer(server)
	pool, err := relay.NewPool(relay.Options{Relays: []string{web.URL}, CallTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
		web.Close()
	})
	flow, err := inspect.New(inspect.Options{
		Open: repository.NewOpener(repository.Options{Roots: []string{inspecttest.Write(t, 0)}}).Open, Join: pool.Join,
	})
	if err != nil {
		t.Fatal(err)
	}
	return flow, web.URL
}

func TestTheSelectedWidgetOfARunningApp(t *testing.T) {
	flow, address := liveFlow(t)
	channel := relay.NewChannelID()
	app := relaytest.StartApp(t, address, channel, relaytest.Plain)
	question := "inspect: ./shop channel:" + channel + " why is the selected widget grey?"
	outcome := ask(t, flow, flows.Request{Text: strings.TrimPrefix(question, "inspect: ")})
	for _, want := range []string{"`button2` on page `Main`", "In the app `backgroundColor` of its `root` is `#888888`, by the rule `inline`"} {
		if !strings.Contains(outcome.Text, want) {
			t.Errorf("%q is not in\n%s", want, outcome.Text)
		}
	}
	if !strings.Contains(outcome.Note, "told by the app's timeline") || strings.Contains(outcome.Text, channel) {
		t.Errorf("%s\n%s", outcome.Note, outcome.Text)
	}
	history := []flows.Turn{{Role: flows.User, Text: question}, {Role: flows.Assistant, Text: outcome.Text}}
	outcome = ask(t, flow, flows.Request{Text: "what happens when I tap the selected widget?", History: history})
	if !strings.Contains(outcome.Text, "goes to the page `Checkout`") || len(app.Calls()) < 4 {
		t.Errorf("%s\n%q", outcome.Text, app.Calls())
	}
}

// TestAppsThatDoNotTell answers from the code alone, and says why.
func TestAppsThatDoNotTell(t *testing.T) {
	flow, address := liveFlow(t)
	for behaviour, wants := range map[relaytest.Behaviour][]string{
		relaytest.Silent:  {"Which widget on page `Main`", "I could not read the running app: the app did not answer GET_WIDGET_TREE within 300ms"},
		relaytest.Deep:    {"I could not read the running app"},
		relaytest.Wrong:   {"Which widget on page `Main`"},
		relaytest.Scripts: {"Which widget on page `Main`"},
	} {
		channel := relay.NewChannelID()
		relaytest.StartApp(t, address, channel, behaviour)
		outcome := ask(t, flow, flows.Request{Text: "./shop channel:" + channel + " what does the selected widget do on Main?"})
		for _, want := range wants {
			if outcome.Kind != flows.Asked || !strings.Contains(outcome.Text, want) {
				t.Errorf("%s: %q is not in %s: %s", behaviour, want, outcome.Kind, outcome.Text)
			}
		}
		outcome = ask(t, flow, flows.Request{Text: "./shop channel:" + channel + " what does button2 do on Main?"})
		if outcome.Kind != flows.Answered || !strings.Contains(outcome.Text, "goes to the page `Checkout`") {
			t.Errorf("%s: %s: %s", behaviour, outcome.Kind, outcome.Text)
		}
	}
	for text, want := range map[string]string{
		"./shop channel:x what does button2 do on Main?":                          "That is no id of a channel",
		"./shop channel:ABCDEFGH@evil.example what does button2 do on Main?":      "That relay may not be used here",
		"./shop channel:ABCDEFGH@169.254.169.254:80 what does button2 do on Main": "That relay may not be used here",
	} {
		if outcome := ask(t, flow, flows.Request{Text: text}); outcome.Kind != flows.Answered || !strings.Contains(outcome.Note, want) {
			t.Errorf("%s: %s %s", text, outcome.Kind, outcome.Note)
		}
	}
}

// TestResearchSteps are told with the contract's ids, as each begins and ends.
func TestResearchSteps(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	const pending = "query-analysis pending, current-page-state pending, retrieve-page-files pending, analyze-page-files pending, synthesize-answer pending, "
	const looked = "query-analysis running, query-analysis completed, current-page-state running, current-page-state skipped"
	for name, test := range map[string]struct {
		request flows.Request
		replies []string
		want    string
	}{
		"code alone": {flows.Request{Text: "./shop what does button1 do on Main?"}, nil, pending + looked +
			", retrieve-page-files running, retrieve-page-files completed, analyze-page-files running, analyze-page-files completed, synthesize-answer running, synthesize-answer completed"},
		"a session": {flows.Request{Text: "./shop what does button1 do?", Attachments: recorded(t, "")}, nil, pending + strings.Replace(looked, "skipped", "completed", 1) +
			", retrieve-page-files running, retrieve-page-files completed, analyze-page-files running, analyze-page-files completed, synthesize-answer running, synthesize-answer completed"},
		"asked": {flows.Request{Text: "./shop what does button9 do?"}, []string{"Main", "button1"}, pending + looked +
			", retrieve-page-files running, retrieve-page-files completed, analyze-page-files running, analyze-page-files running, analyze-page-files completed, synthesize-answer running, synthesize-answer completed"},
		"given up": {flows.Request{Text: "./shop what does button1 do?"}, []string{"x", "y", "z"}, pending + looked +
			", retrieve-page-files skipped, analyze-page-files skipped, synthesize-answer running, synthesize-answer skipped"},
		"refused": {flows.Request{Text: "./nothing what does button1 do?"}, nil, pending + "query-analysis running, query-analysis failed, synthesize-answer running, synthesize-answer skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			runtime := flows.Runtime{Store: graphtest.NewMemory(), ShowStep: func(step flows.ResearchStep) {
				if step.Description == "" {
					t.Errorf("%s has no description", step.ID)
				}
				told = append(told, fmt.Sprintf("%s %s", step.ID, step.Status))
			}}
			request := test.request
			request.Run = "run"
			outcome, err := flow.Start(t.Context(), request, runtime)
			for _, reply := range test.replies {
				if err != nil || outcome.Kind != flows.Asked {
					t.Fatalf("%s: %v", outcome.Kind, err)
				}
				answer := graph.Answer{QuestionID: outcome.Question.ID, Text: reply}
				outcome, err = flow.Resume(t.Context(), "run", []graph.Answer{answer}, runtime)
			}
			if got := strings.Join(told, ", "); err != nil || got != test.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, test.want)
			}
			if slices.ContainsFunc(outcome.Trace.Notes, func(note string) bool { return strings.HasSuffix(note, ": running") }) {
				t.Errorf("%q", outcome.Trace.Notes)
			}
		})
	}
}
