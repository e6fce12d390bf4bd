package slack

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

func FuzzFileName(f *testing.F) {
	for _, seed := range []string{"answer.md", "LICENSE", "a-b.tar.gz", "a.b-c", "-", ".", ""} {
		f.Add(seed, "KEY0123456789ABCDEFGHIJK")
	}
	f.Fuzz(func(t *testing.T, name, key string) {
		if _, is := keyIn(name); is && !strings.Contains(name, "-") {
			t.Errorf("%q carries a key", name)
		}
		if strings.ContainsAny(key, "-./") { // keys are letters and digits
			return
		}
		if got, is := keyIn(fileName(name, chat.PostKey(key))); !is || got != chat.PostKey(key) {
			t.Errorf("%q is called %q, which carries %q", name, fileName(name, chat.PostKey(key)), got)
		}
	})
}
