package local

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"cairn/internal/knowledge/embed"
)

func TestDocumentsWaitForQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Of its own: channels of the shared one would leave the bubble.
		e, err := read()
		if err != nil {
			t.Fatal(err)
		}
		e.questions.enter()
		e.questions.enter()
		var done atomic.Bool
		go func() {
			if _, err := e.Embed(embed.WithBackground(t.Context()), []string{"a", "b"}); err != nil {
				t.Error(err)
			}
			done.Store(true)
		}()
		synctest.Wait()
		if _, err := e.Embed(t.Context(), []string{"a question"}); err != nil {
			t.Fatal(err)
		}
		e.questions.leave()
		synctest.Wait()
		if done.Load() {
			t.Error("documents were embedded while a question was")
		}
		e.questions.leave()
		synctest.Wait()
		if !done.Load() {
			t.Error("documents wait although no question is embedded")
		}
	})
}
