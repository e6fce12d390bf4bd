// Package mcp reads the resources of a server of the Model Context Protocol, over HTTP or as a
// process of this machine. What the server says is data: bounded, and never run.
package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
	"github.com/cairn-bot/cairn/internal/shorten"
)

const (
	callTime     = 30 * time.Second // for each call, and to connect
	maxPages     = 500              // of a list
	maxResources = 20_000
	maxTitle     = 300 // letters
	maxURI       = 1000
)

// Options say what is read. Source, and one of URL and Command, are required.
type Options struct {
	Source       knowledge.SourceID
	URL          string        // of a server over streamable HTTP
	Token        string        // that is sent to it, "" for none
	AllowPrivate bool          // the address may be inside the network
	Command      []string      // the program of a server that talks over its input and output, with its arguments
	Include      []string      // beginnings of the URIs that are read; none: all
	Exclude      []string      // beginnings of those that are not
	MaxBytes     int64         // of one resource; 0: 32 MiB
	CallTime     time.Duration // 0: 30 s
	Kind         knowledge.Kind
	Audience     knowledge.Audience
	Owner        string
}

// Source reads the resources of a server.
type Source struct{ options Options }

var (
	_ connect.Connector = (*Source)(nil)
	_ connect.Checker   = (*Source)(nil)
)

// New makes a source.
func New(options Options) *Source {
	options.Kind = cmp.Or(options.Kind, knowledge.KindDocumentation)
	options.MaxBytes = cmp.Or(options.MaxBytes, 32<<20)
	options.CallTime = cmp.Or(options.CallTime, callTime)
	return &Source{options}
}

// Source implements connect.Connector.
func (s *Source) Source() knowledge.SourceID { return s.options.Source }

// Sync implements connect.Connector. Each resource is read, for servers do not tell what changed.
func (s *Source) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		session, err := s.open(ctx)
		if err != nil {
			yield(connect.Change{}, err)
			return
		}
		defer session.close()
		listed, err := s.listResources(ctx, session)
		if err != nil {
			yield(connect.Change{}, s.serverError(ctx, "list resources", err))
			return
		}
		there := make(map[knowledge.DocumentID]bool)
		for _, resource := range listed {
			change, err := s.readResource(ctx, session, resource, known)
			if err != nil {
				yield(connect.Change{}, err)
				return
			}
			there[change.Document.ID] = true
			if !yield(change, nil) {
				return
			}
		}
		for _, id := range slices.Sorted(maps.Keys(known)) {
			if !there[id] && connect.IsFrom(id, s.options.Source) {
				path := strings.TrimPrefix(string(id), string(s.options.Source)+":")
				if !yield(connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id, Source: s.options.Source, Path: path}}, nil) {
					return
				}
			}
		}
	}
}

// serverError names the server in an error, or gives the end of ctx.
func (s *Source) serverError(ctx context.Context, action string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s of the MCP server %s: %s", action, s.place(), shorten.Line(err.Error(), 300))
}

func (s *Source) place() string {
	if s.options.URL != "" {
		return s.options.URL
	}
	return s.options.Command[0]
}

// listResources gives the resources that are to be read, by their URIs, each once.
func (s *Source) listResources(ctx context.Context, session *session) ([]*sdk.Resource, error) {
	if began := session.InitializeResult(); began != nil && began.Capabilities != nil && began.Capabilities.Resources == nil {
		return nil, nil // it has tools alone
	}
	found := make(map[string]*sdk.Resource)
	cursors := make(map[string]bool)
	params := &sdk.ListResourcesParams{}
	for range maxPages {
		call, cancel := context.WithTimeout(ctx, s.options.CallTime)
		page, err := session.ListResources(call, params)
		cancel()
		if err != nil {
			return nil, err
		}
		for _, resource := range page.Resources {
			if resource != nil && s.isWanted(resource.URI) {
				found[resource.URI] = resource
			}
		}
		switch {
		case len(found) > maxResources:
			return nil, fmt.Errorf("it has more than %d resources: choose some with include", maxResources)
		case page.NextCursor == "":
			return slices.SortedFunc(maps.Values(found), func(a, b *sdk.Resource) int { return cmp.Compare(a.URI, b.URI) }), nil
		case cursors[page.NextCursor]:
			return nil, errors.New("its list goes in a circle")
		}
		cursors[page.NextCursor], params.Cursor = true, page.NextCursor
	}
	return nil, fmt.Errorf("its list has more than %d pages", maxPages)
}

func (s *Source) isWanted(uri string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(uri, prefix) }
	parsed, err := url.Parse(uri)
	return err == nil && parsed.Scheme != "" && len(uri) <= maxURI && !strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f }) &&
		(len(s.options.Include) == 0 || slices.ContainsFunc(s.options.Include, begins)) && !slices.ContainsFunc(s.options.Exclude, begins)
}

// readResource gives the change of a resource. An error is for the server as a whole.
func (s *Source) readResource(ctx context.Context, session *session, resource *sdk.Resource, known connect.Known) (connect.Change, error) {
	document := s.describeResource(resource)
	content, mediaType, err := s.fetchResource(ctx, session, resource)
	if ctx.Err() != nil {
		return connect.Change{}, ctx.Err()
	}
	if session.isOver() {
		return connect.Change{}, s.serverError(ctx, "read resources", cmp.Or(err, session.failure()))
	}
	if err != nil {
		return connect.Change{Kind: connect.Failed, Document: document, Reason: err}, nil //nolint:nilerr // the change tells of it
	}
	if !parse.Supported(mediaType) {
		reason := &parse.UnsupportedError{Name: document.Path, MediaType: mediaType}
		return connect.Change{Kind: connect.Failed, Document: document, Reason: reason}, nil
	}
	document.Hash = hashOf(content)
	if known[document.ID] == document.Hash {
		return connect.Change{Kind: connect.Unchanged, Document: document}, nil
	}
	if document.Modified.IsZero() { // the server does not tell
		document.Modified = time.Now().UTC()
	}
	return connect.Change{Kind: connect.Upserted, Document: document, Content: content, MediaType: mediaType}, nil
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// describeResource gives a resource as a document. Only an address of the web leads anywhere.
func (s *Source) describeResource(resource *sdk.Resource) knowledge.Document {
	document := knowledge.Document{
		ID: connect.NewDocumentID(s.options.Source, resource.URI), Source: s.options.Source, Kind: s.options.Kind, Path: resource.URI,
		Title: shorten.Line(cmp.Or(resource.Title, resource.Name), maxTitle), Owner: s.options.Owner, Audience: s.options.Audience, State: knowledge.StateLive,
	}
	if strings.HasPrefix(resource.URI, "https://") || strings.HasPrefix(resource.URI, "http://") {
		document.URL = resource.URI
	}
	if resource.Annotations != nil {
		if at, err := time.Parse(time.RFC3339, resource.Annotations.LastModified); err == nil {
			document.Modified = at.UTC()
		}
	}
	return document
}

// fetchResource reads a resource. Of several contents the texts are one document; a binary one stands
// alone.
func (s *Source) fetchResource(ctx context.Context, session *session, resource *sdk.Resource) ([]byte, string, error) {
	if resource.Size > s.options.MaxBytes {
		return nil, "", &connect.TooLargeError{Size: resource.Size, Limit: s.options.MaxBytes}
	}
	call, cancel := context.WithTimeout(ctx, s.options.CallTime)
	defer cancel()
	read, err := session.ReadResource(call, &sdk.ReadResourceParams{URI: resource.URI})
	switch {
	case call.Err() != nil:
		return nil, "", fmt.Errorf("the server did not answer within %s", s.options.CallTime)
	case err != nil:
		return nil, "", errors.New(shorten.Line(err.Error(), 300))
	}
	var texts []string
	var blob []byte
	mediaType := resource.MIMEType
	for _, content := range read.Contents {
		if content == nil {
			continue
		}
		mediaType = cmp.Or(content.MIMEType, mediaType)
		if content.Blob != nil && blob == nil {
			blob = content.Blob
		} else if content.Text != "" {
			texts = append(texts, content.Text)
		}
	}
	content := []byte(strings.Join(texts, "\n\n"))
	if len(texts) == 0 {
		content = blob
	}
	switch size := int64(len(content)); {
	case size == 0:
		return nil, "", errors.New("the resource is empty")
	case size > s.options.MaxBytes:
		return nil, "", &connect.TooLargeError{Size: size, Limit: s.options.MaxBytes}
	}
	return content, s.mediaTypeOf(resource.URI, mediaType, content), nil
}

// mediaTypeOf says what a resource is: by its content and its name, and of a plain text by what the
// server says.
func (s *Source) mediaTypeOf(uri, told string, content []byte) string {
	found := parse.Detect(uri, content[:min(len(content), parse.DetectBytes)])
	told, _, _ = strings.Cut(told, ";")
	if told = strings.TrimSpace(told); found == "text/plain" && (told == "text/markdown" || told == "text/html") {
		return told
	}
	return found
}

// Check implements connect.Checker: it reads the resource.
func (s *Source) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	if !connect.IsFrom(document.ID, s.options.Source) {
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, s.options.Source)
	}
	if len(s.options.Command) > 0 {
		return "", fmt.Errorf("check document %s: a process would be started for it", document.ID)
	}
	session, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	defer session.close()
	content, _, err := s.fetchResource(ctx, session, &sdk.Resource{URI: document.Path})
	switch {
	case err != nil:
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	case hashOf(content) == document.Hash:
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}
