package local

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cairn-bot/cairn/internal/knowledge/embed"
)

func TestDocumentsWaitForQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Of its own: channels of the shared one would leave the bubble.
		e, err := readModel()
		if err != nil {
			t.Fatal(err)
		}
		e.questions.enterForeground()
		e.questions.enterForeground()
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
		e.questions.leaveForeground()
		synctest.Wait()
		if done.Load() {
			t.Error("documents were embedded while a question was")
		}
		e.questions.leaveForeground()
		synctest.Wait()
		if !done.Load() {
			t.Error("documents wait although no question is embedded")
		}
	})
}
