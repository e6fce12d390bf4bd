package slack

import (
	"encoding/json"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
)

// The form that asks why an answer was not helpful.
const (
	reasonForm  = "reason"
	reasonBlock = "reason"
	reasonField = "words"
)

// formAbout is what a form carries: which run it is about, and in which thread.
func formAbout(run chat.RunID, thread chat.ThreadID) string {
	return string(run) + " " + string(thread)
}

// readForm reads what a form carries; false for one that is not of this package.
func readForm(callback, about string) (chat.RunID, chat.ThreadID, bool) {
	run, thread, found := strings.Cut(about, " ")
	return chat.RunID(run), chat.ThreadID(thread), found && callback == reasonForm
}

// formError is the answer that keeps a form open and says why at one of its fields.
func formError(block, why string) ([]byte, error) {
	return json.Marshal(struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}{"errors", map[string]string{block: why}})
}
