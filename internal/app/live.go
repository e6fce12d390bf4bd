package app

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/mcp"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of searches at question time.
const (
	liveTime    = 4 * time.Second // for all of them: a person waits
	liveServers = 8               // that are asked for one question
	liveRemark  = 300             // characters
)

// liveSearches ask the tools of MCP servers while a question is answered.
type liveSearches struct {
	library *Library

	mu   sync.Mutex
	open map[string]openSearch // by the names of their sources
}

// openSearch is a server that was asked before, with the settings that it was opened by.
type openSearch struct {
	source config.Source
	live   *mcp.Live
}

func newLiveSearches(l *Library) *liveSearches {
	return &liveSearches{library: l, open: make(map[string]openSearch)}
}

// Close ends the connections.
func (l *liveSearches) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, opened := range l.open {
		opened.live.Close()
	}
	clear(l.open)
}

// search is an answer.LiveSearch.
func (l *liveSearches) search(ctx context.Context, question string, limited []knowledge.SourceID) answer.LiveResult {
	asked, err := l.listAsked(ctx, limited)
	var result answer.LiveResult
	if err != nil {
		result.Remarks = append(result.Remarks, "live search: "+shorten.Line(err.Error(), liveRemark))
	}
	if len(asked) == 0 {
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	found := make([]answer.LiveResult, len(asked))
	var asking sync.WaitGroup
	for i, source := range asked {
		asking.Go(func() { found[i] = l.askServer(ctx, source, question) })
	}
	asking.Wait()
	for _, one := range found {
		result.Findings = append(result.Findings, one.Findings...)
		result.Remarks = append(result.Remarks, one.Remarks...)
	}
	return result
}

// listAsked gives the sources whose tools may be asked for the context's viewers.
func (l *liveSearches) listAsked(ctx context.Context, limited []knowledge.SourceID) ([]config.Source, error) {
	configured, err := sources{l.library}.list()
	var asked []config.Source
	for _, source := range configured {
		if source.Kind != config.SourceMCP || len(source.Tools) == 0 || source.IsPaused() ||
			len(limited) > 0 && !slices.Contains(limited, knowledge.SourceID(source.Name)) || len(asked) == liveServers {
			continue
		}
		audience, err := source.AudienceOf()
		if err != nil || !knowledge.ViewersFrom(ctx).MaySee(audience) {
			continue
		}
		asked = append(asked, source)
	}
	return asked, err
}

// askServer asks the tools of one server.
func (l *liveSearches) askServer(ctx context.Context, source config.Source, question string) answer.LiveResult {
	started := time.Now()
	found, failed := l.connect(source).Search(ctx, question)
	audience, _ := source.AudienceOf() //nolint:errcheck // listAsked looked
	var result answer.LiveResult
	for _, one := range found {
		result.Findings = append(result.Findings, answer.LiveFinding{
			Source: knowledge.SourceID(source.Name), Kind: source.Documents, Audience: audience, Owner: source.Owner,
			Tool: one.Tool, Title: one.Title, URL: one.URL, Text: one.Text,
		})
	}
	result.Remarks = append(result.Remarks, fmt.Sprintf("live search in %s: %s in %d ms", source.Name, countFindings(len(found)), time.Since(started).Milliseconds()))
	for _, err := range failed {
		result.Remarks = append(result.Remarks, shorten.Line(fmt.Sprintf("live search in %s: %v; the answer goes without it", source.Name, err), liveRemark))
	}
	return result
}

func countFindings(count int) string {
	if count == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", count)
}

// connect gives what asks a source's tools, made anew where its settings changed.
func (l *liveSearches) connect(source config.Source) *mcp.Live {
	l.mu.Lock()
	defer l.mu.Unlock()
	opened, ok := l.open[source.Name]
	if ok && reflect.DeepEqual(opened.source, source) {
		return opened.live
	}
	if ok {
		opened.live.Close()
	}
	live := mcp.NewLive(mcp.Options{
		Source: knowledge.SourceID(source.Name), URL: source.URL, Token: source.Key.Secret.Reveal(), AllowPrivate: source.PrivateNetwork,
		Command: source.Command, CallTime: liveTime,
	}, source.Tools)
	l.open[source.Name] = openSearch{source, live}
	return live
}
