package support_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// TestAnalyze has passages that differ in one thing each analysed again and again, by several
// at once: each has its own terms.
func TestAnalyze(t *testing.T) {
	passages := []support.Passage{
		{Language: language.English, Title: "Heron", Headings: []string{"Heron", "Restart"}, Text: "Restart it with care."},
		{Language: language.English, Title: "Magpie", Headings: []string{"Heron", "Restart"}, Text: "Restart it with care."},
		{Language: language.English, Title: "Heron", Headings: []string{"Heron", "Drain"}, Text: "Restart it with care."},
		{Language: language.German, Title: "Heron", Headings: []string{"Heron", "Restart"}, Text: "Restart it with care."},
	}
	for i := range 2000 { // more than are kept
		passages = append(passages, support.Passage{Language: language.English, Title: "Jobs", Text: fmt.Sprint("Job ", i, " is done.")})
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, p := range slices.Concat(passages, passages[:4]) {
				got := p.Analyze()
				if want := lexical.AnalyzeIn(p.Language, p.Text); !slices.Equal(got.Text, want) {
					t.Errorf("%+v: the text's terms are %q, want %q", p, got.Text, want)
				}
				if want := support.OfIn(p.Language, p.Title, strings.Join(p.Headings, " "), p.Text); !maps.Equal(got.All(), want) {
					t.Errorf("%+v: all terms are %v, want %v", p, got.All(), want)
				}
			}
		})
	}
	group.Wait()
}
