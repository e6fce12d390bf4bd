package eval

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Topic is a request that can mean several things, with what people who had one of
// them in mind replied when they were asked back.
type Topic struct {
	ID      int     `json:"topic_id"`
	Request string  `json:"request"`
	Type    string  `json:"type"` // "ambiguous" or "faceted"
	Facets  []Facet `json:"facets"`
	Asked   []struct {
		Text    string `json:"text"`
		Answers []struct {
			Facet  string `json:"facet"`
			Answer string `json:"answer"`
		} `json:"answers"`
	} `json:"questions"`
}

// Facet is one thing that a request can mean.
type Facet struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// LoadTopics reads the topics that may lie beside a clarify set's conversations, in the
// file qulac.jsonl of dir; none where there is no such file.
func LoadTopics(dir string) ([]Topic, error) {
	path := filepath.Join(dir, topicsFile)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil, nil
	}
	return loadFile(path, readTopics)
}

func readTopics(name string, r io.Reader) ([]Topic, error) {
	var topics []Topic
	seen := make(map[string]bool)
	for rec, err := range readRecords[Topic](name, r) {
		if err != nil {
			return nil, err
		}
		for _, facet := range rec.value.Facets {
			if err := newID(seen, facet.ID, "facet id"); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, rec.line, err)
			}
		}
		if strings.TrimSpace(rec.value.Request) == "" {
			return nil, fmt.Errorf("%s:%d: topic %d has no request", name, rec.line, rec.value.ID)
		}
		topics = append(topics, rec.value)
	}
	return topics, nil
}

// FacetDocuments yields the facets of all topics, each as a document of its own. It
// never yields an error.
func FacetDocuments(topics []Topic) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, topic := range topics {
			for _, facet := range topic.Facets {
				if !yield(Document{ID: facet.ID, Text: facet.Text}, nil) {
					return
				}
			}
		}
	}
}

// Reply is what a person with a facet in mind replied to the question most like the
// one asked, by the share of its words; ok is false where nobody did.
func (t Topic) Reply(asked, facet string) (reply string, ok bool) {
	words := wordsOf(asked)
	best := -1.0
	for _, question := range t.Asked {
		shared := 0
		own := wordsOf(question.Text)
		for word := range own {
			if words[word] {
				shared++
			}
		}
		like := ratio(shared, len(own))
		for _, answer := range question.Answers {
			if answer.Facet == facet && like > best {
				best, reply, ok = like, answer.Answer, true
			}
		}
	}
	return reply, ok
}

func wordsOf(text string) map[string]bool {
	words := make(map[string]bool)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		words[strings.Trim(word, ".,;:!?()“”\"'")] = true
	}
	return words
}

// Led is how a run for one facet of a topic went.
type Led struct {
	Type     string // of the topic
	Asked    bool
	Replied  bool   // there was a reply to what was asked; the rest is about that
	Before   string // the facet found first, before and after the reply
	After    string
	Facet    string // in mind
	Answered bool   // after the reply
}

// FacetGroup sums up how often a request was asked about, and how often the reply led
// to the facet that the person had in mind.
func FacetGroup(runs []Led) Group {
	ambiguous, faceted := Row{Name: "asked, ambiguous"}, Row{Name: "asked, faceted"}
	before, after := Row{Name: "facet first when asked"}, Row{Name: "facet first after reply"}
	answered := Row{Name: "answered after reply"}
	for _, run := range runs {
		if run.Type == "ambiguous" {
			ambiguous.add(share(run.Asked))
		} else {
			faceted.add(share(run.Asked))
		}
		if run.Replied {
			before.add(share(run.Before == run.Facet))
			after.add(share(run.After == run.Facet))
			answered.add(share(run.Answered))
		}
	}
	return Group{Name: "requests with facets", Rows: []Row{ambiguous, faceted, before, after, answered}}
}
