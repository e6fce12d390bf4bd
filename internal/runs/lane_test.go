package runs_test

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
)

func FuzzQueueKey(f *testing.F) {
	for _, thread := range []string{"slack:T1:C1:1.2", "", "#", "##", "#commands#t", "a#b"} {
		f.Add(thread)
	}
	f.Fuzz(func(t *testing.T, thread string) {
		keys := make(map[string]bool)
		for _, lane := range runs.Lanes {
			queue := runs.QueueID{Thread: chat.ThreadID(thread), Lane: lane}
			if got := runs.ParseQueueKey(queue.Key()); got != queue {
				t.Errorf("%+v has the key %q, which is read as %+v", queue, queue.Key(), got)
			}
			keys[queue.Key()] = true
		}
		if len(keys) != len(runs.Lanes) {
			t.Errorf("lanes of %q share a key: %v", thread, keys)
		}
	})
}
