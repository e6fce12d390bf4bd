package chat_test

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

func TestThreadIDTellsItsAdapter(t *testing.T) {
	for _, test := range []struct {
		thread chat.ThreadID
		want   string
	}{
		{chat.NewThreadID("web", "K7Q"), "web"},
		{chat.NewThreadID("slack", "T1:C2:1772445600.1"), "slack"},
		{"nobody's", ""},
		{"", ""},
	} {
		if got := test.thread.Adapter(); got != test.want {
			t.Errorf("%q is of %q, want %q", test.thread, got, test.want)
		}
	}
}

func TestIsStop(t *testing.T) {
	for text, want := range map[string]bool{
		"stop": true, "Stop!": true, " cancel. ": true, "never mind": true, "nevermind": true, "NVM": true, "forget it…": true, "/cairn stop": true, "/Cairn  cancel": true,
		"how do I stop it?": false, "stop the server": false, "": false, "don't stop": false, "怎么 stop？": false, "cancelled": false, "/cairnstop": false, "/cairn stop the server": false,
	} {
		if chat.IsStop(text) != want {
			t.Errorf("IsStop(%q) = %v", text, !want)
		}
	}
}

func TestOfADuplicateTheKnownMessageStays(t *testing.T) {
	parts := []chat.PostPart{
		{"k", 0, "1"}, {"k", 1, "2"}, {"other", 0, "3"}, {"k", 0, "4"}, {"k", 1, "5"}, {"k", 0, "6"},
	}
	for _, test := range []struct {
		known, want []chat.MessageID
	}{
		{nil, []chat.MessageID{"4", "5", "6"}},
		{[]chat.MessageID{"4"}, []chat.MessageID{"1", "5", "6"}},
		{[]chat.MessageID{"5", "6", "3"}, []chat.MessageID{"1", "2", "4"}},
	} {
		var got []chat.MessageID
		for _, duplicate := range chat.FindDuplicates(parts, test.known) {
			got = append(got, duplicate.Message)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("known are %v: %v are duplicates, want %v", test.known, got, test.want)
		}
	}
}
