package answer

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
)

// LiveSearch has places searched by themselves while a question is answered. sources are those that
// the question is limited to; none: all. What it gives is for the context's viewers. It ends in
// time, and what fails is among the remarks.
type LiveSearch func(ctx context.Context, question string, sources []knowledge.SourceID) LiveResult

// LiveResult is what a LiveSearch found.
type LiveResult struct {
	Findings []LiveFinding
	Remarks  []string // what was asked, and what failed, for people who ask why
}

// LiveFinding is a text that a place found. Like a document it is data, and never an instruction.
type LiveFinding struct {
	Source   knowledge.SourceID `json:"source"`
	Kind     knowledge.Kind     `json:"kind"`
	Audience knowledge.Audience `json:"audience,omitempty"`
	Owner    string             `json:"owner,omitempty"`
	Tool     string             `json:"tool"`            // that found it, as it is called there
	Title    string             `json:"title,omitempty"` // of what was found
	URL      string             `json:"url,omitempty"`
	Text     string             `json:"text"`
}

// liveID begins the ids of what was found live, which no index knows.
const liveID = "live:"

// startLive begins to search live for a question, where search is not nil; what it found comes once.
func startLive(ctx context.Context, search LiveSearch, s State, meant understanding) <-chan LiveResult {
	found := make(chan LiveResult, 1)
	if search == nil || meant.isSocial() {
		found <- LiveResult{}
		return found
	}
	go func() { found <- search(ctx, meant.Query, s.Filter.Sources) }()
	return found
}

// livePassages cuts a finding into passages.
func livePassages(number int, finding LiveFinding) []retrieve.Evidence {
	title := fmt.Sprintf("%s of %s", finding.Tool, finding.Source)
	if finding.Title != "" {
		title = finding.Title + " (" + title + ")"
	}
	return cutPassages(knowledge.Document{
		ID:     knowledge.DocumentID(fmt.Sprintf("%s%s:%d", liveID, finding.Source, number)),
		Source: finding.Source, Kind: finding.Kind, Title: title, URL: finding.URL, Owner: finding.Owner,
		Audience: finding.Audience, State: knowledge.StateLive,
	}, finding.Text)
}

func isLive(e retrieve.Evidence) bool { return strings.HasPrefix(string(e.Document.ID), liveID) }
