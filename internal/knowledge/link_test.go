package knowledge_test

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

func TestLinks(t *testing.T) {
	for _, test := range []struct{ label, address, want string }{
		{"the guide", "https://example.com/a?b=c#d", "[the guide](https://example.com/a?b=c#d)"},
		{"a `b`", "http://example.com/x_(y)", "[a `b`](http://example.com/x_%28y%29)"},
		{"here", "../guide.md", "here"},
		{"here", "/guide", "here"},
		{"run", "javascript:alert(1)", "run"},
		{"me", "mailto:me@example.com", "me"},
		{"me", "https://user:password@example.com", "me"},
		{"1", "https://example.com", "1"},
		{"a [b]", "https://example.com", "a [b]"},
		{"", "https://example.com", ""},
		{"https://example.com", "https://example.com", "https://example.com"},
		{"long", "https://example.com/" + strings.Repeat("x", 600), "long"},
	} {
		got := knowledge.MakeLink(test.label, test.address)
		if got != test.want {
			t.Errorf("MakeLink(%q, %q) = %q, want %q", test.label, test.address, got, test.want)
		}
		if plain := knowledge.WithoutAddresses("See " + got + "."); plain != "See "+test.label+"." {
			t.Errorf("%q reads %q", got, plain)
		}
		if length := knowledge.LinkLength(got); length != 0 && length != len(got) {
			t.Errorf("%q: a link of %d bytes", got, length)
		}
	}
}

func TestAddressesOfPassages(t *testing.T) {
	comment, ok := knowledge.CommentAnchor("12")
	if !ok {
		t.Errorf("12 makes no anchor")
	}
	for _, id := range []string{"", "1x", "-1"} {
		if _, ok := knowledge.CommentAnchor(id); ok {
			t.Errorf("%q makes an anchor", id)
		}
	}
	for _, test := range []struct{ url, anchor, want string }{
		{"https://x.example/a", "setup", "https://x.example/a#setup"},
		{"https://x.example/a", "", "https://x.example/a"},
		{"", "setup", ""},
		{"https://x.example/browse/A-1", comment, "https://x.example/browse/A-1?focusedCommentId=12"},
		{"https://x.example/a", "focusedCommentId-x", "https://x.example/a#focusedCommentId-x"},
		{"https://x.example/a?b", comment, "https://x.example/a?b#" + comment},
	} {
		if got := knowledge.URLWithAnchor(knowledge.Document{URL: test.url}, test.anchor); got != test.want {
			t.Errorf("%q at %q is %s, want %s", test.anchor, test.url, got, test.want)
		}
	}
}
