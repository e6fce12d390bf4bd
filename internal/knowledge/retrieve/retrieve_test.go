package retrieve_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

func hits(scores ...float64) []index.Hit {
	var made []index.Hit
	for i, score := range scores {
		made = append(made, index.Hit{Passage: knowledge.MakePassageID(knowledge.DocumentID("d"), i), Score: score})
	}
	return made
}

func TestFuseAddsScaledScores(t *testing.T) {
	lexical := hits(10, 6, 2)
	dense := []index.Hit{{Passage: "d#2", Score: 0.9}, {Passage: "x#0", Score: 0.5}}
	fused := retrieve.Fusion{Dense: 0.5}.Fuse(lexical, dense, 5)
	want := map[knowledge.PassageID]float64{"d#0": 0.5, "d#1": 0.3, "d#2": 0.6, "x#0": 0}
	if len(fused) != len(want) {
		t.Fatalf("fused %+v", fused)
	}
	for _, f := range fused {
		if math.Abs(f.Score-want[f.Passage]) > 1e-9 {
			t.Errorf("%s scores %v, want %v", f.Passage, f.Score, want[f.Passage])
		}
	}
	if fused[0].Passage != "d#2" || fused[1].Passage != "d#0" {
		t.Errorf("not in the order of the scores: %+v", fused)
	}
	if fused[0].Lexical != 2 || fused[0].Dense != 0.9 {
		t.Errorf("the sides' own scores are lost: %+v", fused[0])
	}
}

func TestFuseIsFairToPassagesWithoutVectors(t *testing.T) {
	lexical := []index.Hit{{Passage: "a#0", Score: 10, Unembedded: true}, {Passage: "b#0", Score: 8}, {Passage: "c#0", Score: 4, Unembedded: true}}
	dense := []index.Hit{{Passage: "x#0", Score: 0.4}, {Passage: "b#0", Score: 0.3}, {Passage: "y#0", Score: 0.2}}
	for _, method := range []retrieve.Method{retrieve.Convex, retrieve.RRF} {
		fused := retrieve.Fusion{Method: method, Dense: 0.5}.Fuse(lexical, dense, 5)
		if fused[0].Passage != "a#0" || fused[0].Score != 1 || fused[0].Dense != 0 {
			t.Errorf("%s: the best by words, which has no vectors yet, is not first: %+v", method, fused)
		}
		lexical[0].Unembedded = false
		if fused := (retrieve.Fusion{Method: method, Dense: 0.5}).Fuse(lexical, dense, 5); fused[0].Passage != "b#0" {
			t.Errorf("%s: what both sides find is not before what meaning does not find: %+v", method, fused)
		}
		lexical[0].Unembedded = true
	}
}

func TestMoreWordsMakeMeaningCountLess(t *testing.T) {
	lexical := hits(2, 1)
	dense := []index.Hit{{Passage: "d#1", Score: 0.9}, {Passage: "d#0", Score: 0.1}}
	fusion := retrieve.Fusion{Dense: 0.55}
	if short := fusion.Fuse(lexical, dense, 2); short[0].Passage != "d#1" {
		t.Errorf("two words: %+v", short)
	}
	if long := fusion.Fuse(lexical, dense, 20); long[0].Passage != "d#0" {
		t.Errorf("twenty words: %+v", long)
	}
}

func TestRRFGoesByRankAlone(t *testing.T) {
	near := retrieve.Fusion{Method: retrieve.RRF, Dense: 0.5}.Fuse(hits(10, 9), hits(1), 5)
	far := retrieve.Fusion{Method: retrieve.RRF, Dense: 0.5}.Fuse(hits(1000, 1), hits(1), 5)
	for i := range near {
		if near[i].Passage != far[i].Passage || near[i].Score != far[i].Score {
			t.Errorf("scores changed the order: %+v, %+v", near, far)
		}
	}
}

func TestTermsLeaveOutWhatTellsNothing(t *testing.T) {
	texts := func(question string) []string {
		var texts []string
		for _, term := range retrieve.Terms(question) {
			texts = append(texts, term.Text)
		}
		return texts
	}
	if got := texts("How do I roll back, roll back please?"); !slices.Equal(got, []string{"roll", "back"}) {
		t.Errorf("got %q", got)
	}
	if got := texts("who is it"); !slices.Equal(got, []string{"who", "is", "it"}) {
		t.Errorf("a question of nothing else gives %q", got)
	}
	if got := texts("🚀"); len(got) != 0 {
		t.Errorf("a rocket has the terms %q", got)
	}
}

// corpus is a small index with text and vectors.
func corpus(t *testing.T, passages map[string]string) *retrieve.Retriever {
	t.Helper()
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	for title, text := range passages {
		document := knowledge.DocumentID("docs:" + title)
		passage := knowledge.Passage{ID: knowledge.MakePassageID(document, 0), Document: document, Text: text, Hash: title}
		batch := index.Batch{Put: []index.Entry{{
			Document: knowledge.Document{ID: document, Source: "docs", Kind: knowledge.KindDocumentation, Title: title, Path: title, Hash: title},
			Passages: []knowledge.Passage{passage},
		}}}
		if err := ix.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		vectors, err := embedder.Embed(t.Context(), embedder.Windows(title, text))
		if err != nil {
			t.Fatal(err)
		}
		if err := ix.WriteVectors(t.Context(), []index.Vectors{{Passage: passage.ID, Hash: title, Windows: vectors}}); err != nil {
			t.Fatal(err)
		}
	}
	return &retrieve.Retriever{Index: ix, Embedder: embedder, Fusion: retrieve.DefaultFusion}
}

func TestSearchFindsByWordsAndByMeaning(t *testing.T) {
	r := corpus(t, map[string]string{
		"Leave":   "You have 28 days of leave a year.",
		"Laptops": "Your laptop comes from the help desk in room 12.",
		"Parking": "Park your car behind the building.",
	})
	for question, want := range map[string]string{
		"how many days of leave":           "Leave",
		"where can I put my vehicle":       "Parking",
		"which computer do I get for work": "Laptops",
	} {
		found, err := r.Search(context.Background(), retrieve.Query{Text: question})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Evidence) == 0 || found.Evidence[0].Document.Title != want {
			t.Errorf("%q finds %+v, want %s first", question, found.Evidence, want)
		}
	}
	found, err := r.Search(context.Background(), retrieve.Query{Text: "leave", Limit: 1})
	if err != nil || len(found.Evidence) != 1 {
		t.Errorf("a limit of 1 gives %d, %v", len(found.Evidence), err)
	}
}

func TestTermsInOtherLanguagesAreStemmedThere(t *testing.T) {
	got := retrieve.Terms("Wo finde ich die Einstellungen von GitLab?")
	want := []index.Term{{Text: "find:de", Weight: 1}, {Text: "find", Weight: 1}, {Text: "einstell:de", Weight: 1}, {Text: "einstell", Weight: 1}, {Text: "einstellungen", Weight: .5}, {Text: "git", Weight: 1}, {Text: "lab", Weight: 1}, {Text: "gitlab", Weight: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestThePageInTheAskersLanguageComesFirst has a page and its translation, both found by a name.
func TestThePageInTheAskersLanguageComesFirst(t *testing.T) {
	r := corpus(t, map[string]string{"Parking": "Park your car behind the building."})
	ix := r.Index.(*embedded.Index)
	for language, text := range map[string]string{"de": "Kestrel startet neu mit kestrelctl", "en": "Kestrel restarts with kestrelctl"} {
		id := knowledge.DocumentID("docs:" + language)
		batch := index.Batch{Put: []index.Entry{{
			Document: knowledge.Document{ID: id, Source: "docs", Title: "Kestrel", Hash: language, Language: language},
			Passages: []knowledge.Passage{{ID: knowledge.MakePassageID(id, 0), Document: id, Text: text, Hash: language}},
		}}}
		if err := ix.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]string{"what does kestrelctl do": "en", "was macht denn kestrelctl": "de"} {
		found, err := r.Search(t.Context(), retrieve.Query{Text: question})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Evidence) < 2 || found.Evidence[0].Document.Language != want {
			t.Errorf("%q finds %+v, want the page in %s first", question, found.Evidence, want)
		}
	}
}
