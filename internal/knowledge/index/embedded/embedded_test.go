package embedded

import (
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
)

func TestSuite(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Store {
		dir := t.TempDir()
		return func() (index.Index, error) {
			return Open(t.Context(), suiteOptions(dir))
		}
	})
}
