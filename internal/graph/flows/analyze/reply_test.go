package analyze_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/analyze"
)

func TestReadReply(t *testing.T) {
	for decision, replies := range map[analyze.Decision][]string{
		analyze.Approved: {
			"looks good", "Looks good!", "looks good to me", "ship it", "Ship it!!", "lgtm", "LGTM 🚀", "lgmt", "yes", "Yes please",
			"yep", "ok", "OK, thanks", "👍", "approve", "aprove", "approvd", "approved.", "loks good", "looks goood", "perfect", "that's great, thanks",
			"go ahead", "go for it", "sounds good", "fine by me", "all good", "ja", "oui", "si", "sure", "I'm happy with it", "very nice", "works for me", "+1", "it’s fine",
		},
		analyze.Stopped: {"stop", "cancel", "Cancel it please", "discard", "never mind", "forget it", "drop it"},
		analyze.Revise:  {"no", "nope", "not yet", "revise", "change it", "edit", "no thanks"},
		analyze.Feedback: {
			"looks good but add the dates", "yes, but drop the outline", "not good", "good, only the risks please", "add more on refunds",
			"is it good?", "yes?", "it", "the report", "stop listing people", "drop the dates", "no dates", "", "  ", "🤔", "don't ship it",
			"ok now remove the glossary", "approve the second part only", "what about security?", "improve it", "I would not approve this",
		},
	} {
		for _, reply := range replies {
			if got := analyze.ReadReply(reply); got != decision {
				t.Errorf("ReadReply(%q) = %s, want %s", reply, got, decision)
			}
		}
	}
}

// FuzzReadReply checks that a reply never approves with more words than an approval has,
// or with a "not".
func FuzzReadReply(f *testing.F) {
	for _, seed := range []string{"looks good", "ship it", "not good", "yes, but", "\xff👍", "ok ok ok"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if analyze.ReadReply(reply) != analyze.Approved {
			return
		}
		for _, word := range strings.Fields(strings.ToLower(reply)) {
			if word == "not" || word == "but" || word == "no" || strings.Contains(word, "?") {
				t.Errorf("%q approves", reply)
			}
		}
	})
}
