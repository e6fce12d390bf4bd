package answer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/prompts"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// What the files that came with a question count for.
const (
	// attachedSize is about how many bytes a passage of an attached file has.
	attachedSize = 1200
	// maxAttached is how many passages of attached files join the evidence.
	maxAttached = 8
	// bearsOn is how much of the question an attached passage must hold to join the
	// evidence by itself; attachedAside is what the beginning of a file counts for of the
	// best passage, where none does.
	bearsOn       = 0.5
	attachedAside = 0.5
	// keyTerms of the files are searched for beside the question, among the keyCandidates
	// that they have most often.
	keyTerms      = 8
	keyCandidates = 40
	keyWeight     = 0.2
	// attachedExcerpt is how much of a file a model sees that reads the question, in
	// characters.
	attachedExcerpt = 1500
)

// attachedID begins the ids of attached files and of their passages, which no index knows.
const attachedID = "attached:"

// isAttached tells whether evidence came beside the index: with the question, or from a live search.
func isAttached(e retrieve.Evidence) bool {
	return strings.HasPrefix(string(e.Document.ID), attachedID) || isLive(e)
}

// pointsAtFiles tells whether the question is about its files, whatever their words.
func pointsAtFiles(s State) bool {
	return len(s.Attachments) > 0 && smalltalk.PointsAtFile(s.OriginalQuery)
}

// withAttached joins the passages of the attached files, and of what was found live, that bear on
// the question to what was found. They count by how much of the question they hold, the best of what was found
// being the measure.
func withAttached(s State, found []retrieve.Evidence) []retrieve.Evidence {
	if len(s.Attachments)+len(s.Live) == 0 {
		return found
	}
	found = slices.DeleteFunc(slices.Clone(found), isAttached)
	best := 1.0
	if len(found) > 0 {
		best = found[0].Score
	}
	joined := slices.Concat(bearingFiles(s, best), bearingFindings(s, best), found)
	slices.SortStableFunc(joined, func(a, b retrieve.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	return joined[:min(len(joined), kept)]
}

// bearingFiles gives the attached passages that join the evidence, best first.
func bearingFiles(s State, best float64) []retrieve.Evidence {
	var all, bear []retrieve.Evidence
	for i, file := range s.Attachments {
		all = append(all, attachedPassages(i, file)...)
	}
	bear = thatBear(s, best, all)
	if len(bear) > 0 && !pointsAtFiles(s) {
		return bear[:min(len(bear), maxAttached)]
	}
	counts := best * attachedAside
	if pointsAtFiles(s) {
		counts = best
	}
	for _, e := range all {
		known := slices.ContainsFunc(bear, func(other retrieve.Evidence) bool { return other.Passage.ID == e.Passage.ID })
		if e.Passage.Position == 0 && !known {
			e.Score = counts
			bear = append(bear, e)
		}
	}
	return bear[:min(len(bear), maxAttached)]
}

// bearingFindings gives the passages of what was found live that join the evidence, best first.
func bearingFindings(s State, best float64) []retrieve.Evidence {
	var all []retrieve.Evidence
	for i, finding := range s.Live {
		all = append(all, livePassages(i, finding)...)
	}
	bear := thatBear(s, best, all)
	return bear[:min(len(bear), maxAttached)]
}

// thatBear gives the passages that bear on the question, best first, scored by how much of it they
// hold.
func thatBear(s State, best float64, passages []retrieve.Evidence) []retrieve.Evidence {
	var bear []retrieve.Evidence
	for _, e := range passages {
		set := termsOf(e)
		if coverage := s.Profile.Coverage(set); coverage >= bearsOn {
			e.Score, e.Lexical = best*coverage, heldWeight(s.Profile, set)
			bear = append(bear, e)
		}
	}
	slices.SortStableFunc(bear, func(a, b retrieve.Evidence) int { return cmp.Compare(b.Score, a.Score) })
	return bear
}

// heldWeight is about what BM25 would give a passage of usual length.
func heldWeight(p support.Profile, set support.Set) float64 {
	sum := 0.0
	for _, term := range p.Terms {
		if term.Holds(set) {
			sum += term.IDF
		}
	}
	return sum
}

// attachedPassages cuts a file into passages.
func attachedPassages(number int, file flows.Attachment) []retrieve.Evidence {
	return cutPassages(knowledge.Document{
		ID: knowledge.DocumentID(attachedID + strconv.Itoa(number)), Kind: flows.KindAttachment,
		Title: "attached: " + file.Name, State: knowledge.StateLive,
	}, file.Text)
}

// cutPassages cuts the text of a document that no index knows into passages, between sentences.
func cutPassages(document knowledge.Document, whole string) []retrieve.Evidence {
	var passages []retrieve.Evidence
	add := func(text string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		passages = append(passages, retrieve.Evidence{Document: document, Passage: knowledge.Passage{
			ID: knowledge.PassageID(fmt.Sprintf("%s#%d", document.ID, len(passages))), Document: document.ID,
			Position: len(passages), Text: text,
		}})
	}
	from, to := 0, 0
	for _, part := range sentence.Split(whole) {
		if part.End-from > attachedSize && to > from {
			add(whole[from:to])
			from = to
		}
		to = part.End
	}
	add(whole[from:])
	return passages
}

// readAttached has the files be part of the question: their key terms are searched for,
// and what they speak of is not unknown.
func (f *Flow) readAttached(ctx context.Context, files []flows.Attachment, meant understanding) (understanding, error) {
	texts := make([]string, len(files))
	for i, file := range files {
		texts[i] = file.Text
	}
	terms, err := f.keyTerms(ctx, texts)
	if err != nil {
		return understanding{}, err
	}
	weights := newWeights()
	for _, term := range meant.Terms {
		weights.raise(term.Text, term.Weight)
	}
	for _, term := range terms {
		weights.raise(term.Term, keyWeight)
		meant.Expanded = append(meant.Expanded, term.Term)
	}
	meant.Terms = weights.terms()
	meant.Unresolved = "" // "it" is what the files are about
	held := support.Of(texts...)
	meant.Profile.Terms = slices.Clone(meant.Profile.Terms)
	for i := range meant.Profile.Terms {
		if term := &meant.Profile.Terms[i]; term.Passages == 0 && term.Holds(held) {
			term.Passages = 1
		}
	}
	meant.Remarks = append(meant.Remarks, fmt.Sprintf("read with %d attached files", len(files)))
	return meant, nil
}

// keyTerms gives the terms that texts have often and the index has seldom.
func (f *Flow) keyTerms(ctx context.Context, texts []string) ([]index.TermStats, error) {
	often := make(map[string]int)
	for _, text := range texts {
		for _, term := range lexical.Analyze(text) {
			if !lexical.IsFiller(term) && !lexical.IsStop(term) {
				often[term]++
			}
		}
	}
	candidates := slices.SortedFunc(maps.Keys(often), func(a, b string) int {
		return cmp.Or(cmp.Compare(often[b], often[a]), cmp.Compare(a, b))
	})
	counts, err := f.index.Terms(ctx, candidates[:min(len(candidates), keyCandidates)])
	if err != nil {
		return nil, fmt.Errorf("look up the words of the attached files: %w", err)
	}
	counts = slices.DeleteFunc(counts, func(known index.TermStats) bool { return known.Passages == 0 })
	slices.SortStableFunc(counts, func(a, b index.TermStats) int { return cmp.Compare(a.Passages, b.Passages) })
	return counts[:min(len(counts), keyTerms)], nil
}

// excerpts gives the beginnings of the files for a model that reads the question.
func excerpts(files []flows.Attachment) []prompts.Attachment {
	shown := make([]prompts.Attachment, len(files))
	for i, file := range files {
		shown[i] = prompts.Attachment{Name: file.Name, Text: shorten.Text(file.Text, attachedExcerpt)}
	}
	return shown
}
