package answer_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
)

func TestAsksAboutWhatTheThreadDoesNotMention(t *testing.T) {
	f := open(t)
	leave := []flows.Turn{
		{Role: flows.User, Text: "how many days of leave do I get?"},
		{Role: flows.Assistant, Text: "28 days of leave a year."},
	}
	heron := []flows.Turn{
		{Role: flows.User, Text: "where does the billing service run?"},
		{Role: flows.Assistant, Text: "The billing service runs on the Heron cluster."},
	}
	for _, test := range []struct {
		name, question string
		history        []flows.Turn
		asks           string // about; "": answers
	}{
		{"pointing at nothing said", "how long do we keep invoices of this vendor?", leave, "this vendor"},
		{"the only one, without a thread", "how long are invoices kept by the billing service", nil, ""},
		{"pointing at what was said", "how do I restart this cluster with heronctl?", heron, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask(t, flows.Request{Text: test.question, History: test.history})
			if test.asks == "" {
				if got.Kind != flows.Answered {
					t.Fatalf("%s: %s", got.Kind, got.Text)
				}
				return
			}
			if got.Kind != flows.Asked || !strings.Contains(got.Text, "“"+test.asks+"”") || !got.Question.FreeText {
				t.Fatalf("%s: %s", got.Kind, got.Text)
			}
		})
	}
}

func TestDecisionsSayWhatTheyWereTakenFrom(t *testing.T) {
	f := open(t)
	got := f.ask(t, flows.Request{Text: "who pays for the billing of the vendor?", History: []flows.Turn{
		{Role: flows.User, Text: "where does the billing service run?"},
	}})
	names := make(map[string]flows.Input)
	for _, input := range got.Trace.Inputs {
		names[input.Name] = input
	}
	for _, name := range []string{"words close by", "definite not given", "chance of several readings", "chance that nothing answers"} {
		if _, there := names[name]; !there {
			t.Errorf("%s decided without %q, from %+v", got.Kind, name, got.Trace.Inputs)
		}
	}
	if chance := names["chance of several readings"]; chance.Limit <= 0 || chance.Decided != (chance.Value >= chance.Limit) {
		t.Errorf("the chance of several readings is told as %+v", chance)
	}
}

// openWithLeases opens a handbook of which four pages mention leases, and none is named for them.
func openWithLeases(t *testing.T) *fixture {
	t.Helper()
	f := open(t)
	for _, p := range []page{
		{"chat/discord.md", "Cairn in Discord", "", []section{{"First steps", "Make an app in Discord and invite it. Then a pod takes a lease of the gateway."}}},
		{"chat/settings.md", "Settings", "", []section{{"Values", "Discord needs a token. A lease lasts for ten seconds."}}},
		{"chat/limits.md", "Limits", "", []section{{"Pace", "Discord takes fifty calls a second. A lease counts none."}}},
		{"chat/pods.md", "Pods", "", []section{{"Several", "Pods share the connections to Discord by a lease each."}}},
	} {
		put(t, f.index, f.embedder, p)
	}
	return f
}

// TestAsksBackAboutABareTopic asks one word, and the same word as a question.
func TestAsksBackAboutABareTopic(t *testing.T) {
	f := openWithLeases(t)
	if got := f.ask(t, flows.Request{Text: "lease"}); got.Kind != flows.Asked || len(got.Question.Choices) < 2 {
		t.Errorf("%s: %s", got.Kind, got.Text)
	}
	put(t, f.index, f.embedder, page{"chat/leases.md", "Lease", "", []section{{"Overview", "A lease says which pod holds a connection."}}})
	if got := f.ask(t, flows.Request{Text: "lease"}); got.Kind != flows.Answered {
		t.Errorf("with a page of its own: %s: %s", got.Kind, got.Text)
	}
}

// TestNeverAsksBackWhatIsPlain has words that several pages are about: who asks what a thing is
// that the first passage names, or names the title of one page, is answered.
func TestNeverAsksBackWhatIsPlain(t *testing.T) {
	f := openWithLeases(t)
	for _, question := range []string{"what is a lease?", "how do i set up discord"} {
		if got := f.ask(t, flows.Request{Text: question}); got.Kind != flows.Answered {
			t.Errorf("%s: %s: %s", question, got.Kind, got.Text)
		}
	}
}

// TestNeverAsksWhatTheProductIs has one product documented: in a first message "it" is that, and
// who asks whether something is so is not asked back.
func TestNeverAsksWhatTheProductIs(t *testing.T) {
	f := open(t)
	for _, question := range []string{"does it keep invoices?", "how do I restart it with heronctl?"} {
		if got := f.ask(t, flows.Request{Text: question}); got.Kind == flows.Asked {
			t.Errorf("%s: %s: %s", question, got.Kind, got.Text)
		}
	}
}
