package survey

import (
	"strings"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// sourceItem is what a model is shown as one source: a section, a part of one, or a note.
type sourceItem struct {
	label  string
	text   string
	places []evidence.Place
	// told are the texts of documents that it is, or was made, of.
	told []string
	// tokens is what it takes of a window, once that was counted.
	tokens int
}

// documentSections returns the text of the documents.
func (w *survey) documentSections() []sourceItem {
	var items []sourceItem
	for d, doc := range w.set.Documents {
		text := w.set.Texts[doc.Name]
		for s, section := range doc.Sections {
			body := strings.TrimSpace(text[section.Start:section.End])
			if body == "" {
				continue
			}
			label := doc.Name
			if len(section.Headings) > 0 {
				label += " › " + strings.Join(section.Headings, " › ")
			}
			items = append(items, sourceItem{label: shorten.Text(label, maxLabel), text: body, places: []evidence.Place{{Document: d, Section: s}}, told: []string{body}})
		}
	}
	return items
}

const (
	maxLabel = 200 // characters
	// promptTokens is about what a prompt takes beside its sources and the task.
	promptTokens = 700
	// sourceTokens is about what the tags of a source take.
	sourceTokens = 20
	// smallestWindow is the least room for sources that is worth a request, in tokens.
	smallestWindow = 500
)

// sourceBudget returns how many tokens of sources fit into one request beside the task and the reply.
func (w *survey) sourceBudget() (tokens int, enough bool) {
	model := w.surveyor.model
	limits := model.Limits()
	tokens = limits.Context - limits.Reply - promptTokens - model.Tokens(w.task.Query)
	for _, said := range w.task.Feedback {
		tokens -= model.Tokens(said)
	}
	for _, part := range w.task.Draft {
		for _, s := range part.Statements {
			tokens -= model.Tokens(s.Text)
		}
	}
	return tokens, tokens >= smallestWindow
}

// packWindows puts items into as few windows as their order allows, each of at most room tokens.
// An item that is longer is cut between sentences, and a sentence that is longer anywhere.
func packWindows(model llm.Model, items []sourceItem, room int) [][]sourceItem {
	var windows [][]sourceItem
	var window []sourceItem
	left := room
	for _, whole := range items {
		for _, one := range splitItem(model, whole, room) {
			if one.tokens > left && len(window) > 0 {
				windows = append(windows, window)
				window, left = nil, room
			}
			window = append(window, one)
			left -= one.tokens
		}
	}
	if len(window) > 0 {
		windows = append(windows, window)
	}
	return windows
}

// splitItem cuts an item into such that fit into a window.
func splitItem(model llm.Model, whole sourceItem, room int) []sourceItem {
	frame := sourceTokens + model.Tokens(whole.label)
	room -= frame
	if tokens := model.Tokens(whole.text); tokens <= room {
		whole.tokens = frame + tokens
		return []sourceItem{whole}
	}
	var cuts []sourceItem
	from, end, sum := 0, 0, 0
	add := func(to int) {
		if text := strings.TrimSpace(whole.text[from:to]); text != "" {
			cut := sourceItem{label: whole.label, text: text, places: whole.places, told: whole.told, tokens: frame + model.Tokens(text)}
			if len(whole.told) == 1 && whole.told[0] == whole.text {
				cut.told = []string{text}
			}
			cuts = append(cuts, cut)
		}
		from, end, sum = to, to, 0
	}
	for _, part := range sentence.Split(whole.text) {
		tokens := model.Tokens(whole.text[end:part.End])
		if sum+tokens > room {
			add(end)
			tokens = model.Tokens(whole.text[from:part.End])
		}
		for tokens > room {
			add(from + fittingLength(model, whole.text[from:part.End], room))
			tokens = model.Tokens(whole.text[from:part.End])
		}
		end, sum = part.End, sum+tokens
	}
	add(len(whole.text))
	return cuts
}

// fittingLength returns the length of a beginning of a text that has at most room tokens: half of it,
// or half of that, and so on, without cutting a character.
func fittingLength(model llm.Model, text string, room int) int {
	for len(text) > 1 && model.Tokens(text) > room {
		at := len(text) / 2
		for at > 1 && !utf8.RuneStart(text[at]) {
			at--
		}
		text = text[:at]
	}
	return len(text)
}

func sourcesOf(items []sourceItem) []source {
	sources := make([]source, len(items))
	for i, one := range items {
		sources[i] = source{Number: i + 1, Label: one.label, Text: one.text}
	}
	return sources
}
