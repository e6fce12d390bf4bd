package web

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	for want, remove := range map[string]func(*Options){
		"Transcripts": func(o *Options) { o.Transcripts = nil },
		"Controls":    func(o *Options) { o.Controls = nil },
		"Graphs":      func(o *Options) { o.Graphs = nil },
		"Threads":     func(o *Options) { o.Threads = nil },
		"Logger":      func(o *Options) { o.Logger = nil },
		"256.0.0.1:1": func(o *Options) { o.Addr = "256.0.0.1:1" },
	} {
		options := over(&chattest.Bot{})
		remove(&options)
		if _, err := New(t.Context(), options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New without it = %v, want an error that names %s", err, want)
		}
	}
}
