package survey

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/llm"
)

// roleRead is the role of a model that takes notes, in traces.
const roleRead = "read"

// modelNote is a statement as a model gives it: the numbers are those of what it was shown.
type modelNote struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

// readWindows takes notes on windows, some at the same time. The notes are in the order of the
// windows. What the model fails to read is missing, and is said in the uses.
func (w *survey) readWindows(ctx context.Context, windows [][]sourceItem) ([]sourceItem, error) {
	var (
		reading sync.WaitGroup
		mu      sync.Mutex // over done, given and calls of say
		done    int
		given   bool // up: no more requests are sent
		notes   = make([][]sourceItem, len(windows))
		uses    = make([]flows.ModelUse, len(windows))
		errs    = make([]error, len(windows))
		slots   = make(chan struct{}, maxParallel)
	)
	for i, window := range windows {
		slots <- struct{}{}
		mu.Lock()
		stop := given || ctx.Err() != nil
		mu.Unlock()
		if stop {
			uses[i] = flows.ModelUse{Role: roleRead, Failure: "not asked after other failures"}
			<-slots
			continue
		}
		reading.Go(func() {
			defer func() { <-slots }()
			notes[i], uses[i], errs[i] = w.readOne(ctx, window)
			mu.Lock()
			defer mu.Unlock()
			done++
			w.say(fmt.Sprintf("Read %d of %d parts", done, len(windows)))
			given = given || isPermanent(uses[i].Failure)
		})
	}
	reading.Wait()
	w.made.Uses = append(w.made.Uses, uses...)
	w.made.Remarks = append(w.made.Remarks, fmt.Sprintf("read in %d parts", len(windows)))
	var all []sourceItem
	for _, some := range notes {
		all = append(all, some...)
	}
	return all, errors.Join(errs...)
}

// isPermanent failures are those that the next request meets as well.
func isPermanent(failure string) bool {
	switch llm.Failure(failure) {
	case llm.OverBudget, llm.Rejected, llm.Unavailable:
		return true
	}
	return false
}

func (w *survey) readOne(ctx context.Context, window []sourceItem) ([]sourceItem, flows.ModelUse, error) {
	messages, err := readPrompt{
		Goal: w.task.Goal, Sources: sourcesOf(window), Query: w.task.Query, Feedback: w.task.Feedback, Most: w.maxStatements(maxNotes),
	}.toMessages()
	if err != nil {
		return nil, flows.ModelUse{}, err
	}
	type reply struct {
		Notes []modelNote `json:"notes"`
	}
	told, use := flows.ConsultFor[reply](ctx, roleRead, w.surveyor.model, llm.Request{Run: w.task.Run, Messages: messages, Schema: &readSchema})
	var items []sourceItem
	for _, n := range told.Notes[:min(len(told.Notes), maxNotes)] {
		made := joinCited(window, n.Sources)
		if made.text = evidence.Line(n.Text); made.text != "" && len(made.places) > 0 {
			items = append(items, made)
		}
	}
	return items, use, nil
}

// joinCited joins what numbers cite: the label is that of the first. A number that nothing
// was shown by cites nothing.
func joinCited(items []sourceItem, numbers []int) sourceItem {
	var made sourceItem
	for _, number := range numbers {
		if number < 1 || number > len(items) {
			continue
		}
		from := items[number-1]
		if made.label == "" {
			made.label = from.label
		}
		for _, place := range from.places {
			made.places = evidence.Join(made.places, place, maxPlaces)
		}
		made.told = distinct(made.told, from.told, maxPlaces)
	}
	return made
}

// itemSentences returns what the documents say, with the headings over it.
func (i sourceItem) itemSentences() []string {
	sentences := []string{i.label}
	for _, text := range i.told {
		for _, part := range sentence.Split(text) {
			sentences = append(sentences, part.Text)
		}
	}
	return sentences
}
