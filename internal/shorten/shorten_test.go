package shorten

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextsAreCutBetweenLetters(t *testing.T) {
	for _, test := range []struct {
		name, got, want string
	}{
		{"head of a short text", Head("abc", 3), "abc"},
		{"head", Head("回滚只需要", 2), "回滚"},
		{"head of no letters", Head("abc", 0), ""},
		{"text of a short text", Text("回滚只", 3), "回滚只"},
		{"text", Text("回滚只需要", 3), "回滚只…"},
		{"line", Line(" two\n\tlines ", 20), "two lines"},
		{"long line", Line("two\nlines\xff", 5), "two l…"},
		{"line cut at a space", Line("two lines", 4), "two…"},
		{"broken line", Line("a\xffb", 5), "a\uFFFDb"},
		{"bytes of a short text", Bytes("回", 3), "回"},
		{"bytes", Bytes("回滚", 5), "回"},
		{"bytes of none", Bytes("回", 2), ""},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("how do I roll back?", 7)
	f.Add("回滚\x00只 \xff\u2028x", 3)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit > 1000 {
			return
		}
		head, line, bytes := Head(text, limit), Line(text, limit), Bytes(text, limit)
		if !strings.HasPrefix(text, head) || utf8.RuneCountInString(head) != min(limit, utf8.RuneCountInString(text)) {
			t.Errorf("Head(%q, %d) = %q", text, limit, head)
		}
		if !utf8.ValidString(line) || utf8.RuneCountInString(line) > limit+1 || strings.ContainsAny(line, "\n\r\t") {
			t.Errorf("Line(%q, %d) = %q", text, limit, line)
		}
		if !strings.HasPrefix(text, bytes) || len(bytes) > limit || utf8.ValidString(text) && !utf8.ValidString(bytes) {
			t.Errorf("Bytes(%q, %d) = %q", text, limit, bytes)
		}
	})
}
