package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/graph/flows/page"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
)

// mergeRequests opens merge requests on the forges of sources that have a token for it.
type mergeRequests struct{ library *Library }

var _ page.MergeRequests = mergeRequests{}

// newProposer makes what proposes changes of a source's repositories.
func newProposer(source config.Source) *forge.Proposer {
	return forge.NewProposer(forge.Options{
		Source: knowledge.SourceID(source.Name), Kind: forge.Kind(source.Kind), URL: source.URL, Token: source.MergeKey.Secret.Reveal(),
		Git: gitBounds(source), MaxBytes: maxOriginal,
	})
}

// findSource gives the source of a document whose repositories can be changed.
func (m mergeRequests) findSource(document knowledge.DocumentID) (config.Source, bool) {
	configured, err := sources{m.library}.list()
	if err != nil {
		return config.Source{}, false
	}
	name, _, _ := strings.Cut(string(document), ":")
	for _, source := range configured {
		if source.Name == name && source.Kind == config.SourceGitea && source.MergeKey.Secret.Reveal() != "" {
			return source, true
		}
	}
	return config.Source{}, false
}

// FindRepository implements page.MergeRequests.
func (m mergeRequests) FindRepository(document knowledge.Document) (name string, ok bool) {
	if _, ok := m.findSource(document.ID); !ok {
		return "", false
	}
	name, _, ok = strings.Cut(string(document.ID), "//")
	return name, ok
}

// read gives the file of a document as the forge has it.
func (m mergeRequests) read(ctx context.Context, source config.Source, document knowledge.DocumentID) ([]byte, error) {
	if source.MergeKey.Secret.Reveal() == "" {
		return nil, page.ErrNoOriginal
	}
	original, err := newProposer(source).ReadFile(ctx, document)
	if errors.Is(err, forge.ErrNoFile) {
		return nil, page.ErrNoOriginal
	}
	return original.Content, explainRefusal(err)
}

// explainRefusal says in words for people why a forge refused, where it is the forge that did.
func explainRefusal(err error) error {
	status, ok := forge.StatusOf(err)
	var reason string
	switch {
	case !ok:
		return err
	case errors.Is(err, forge.ErrNoFile), status == http.StatusNotFound, status == http.StatusGone:
		reason = "the repository or the file is not there any more, or the token of `merge_key_env` may not see it"
	case status == http.StatusUnauthorized:
		reason = "the forge does not know the token of `merge_key_env`"
	case status == http.StatusForbidden:
		reason = "the token of `merge_key_env` may not write there"
	case status == http.StatusLocked:
		reason = "the repository is archived"
	case status >= http.StatusInternalServerError:
		reason = fmt.Sprintf("the forge has an error of its own (status %d), which is also Gitea's answer where a rule of the repository protects branches that begin with `cairn/`", status)
	default:
		reason = fmt.Sprintf("the forge does not take it (status %d)", status)
	}
	return &page.RefusedError{Reason: reason, Err: err}
}

// nameBranch names the branch of a change: the same change has the same one, whoever proposes it.
func nameBranch(request page.MergeRequest) string {
	hash := sha256.New()
	for _, file := range request.Files {
		for _, part := range [][]byte{[]byte(file.Document), file.Before, file.After} {
			fmt.Fprintf(hash, "%d:", len(part))
			hash.Write(part)
		}
	}
	return "cairn/correct-" + hex.EncodeToString(hash.Sum(nil)[:6])
}

// Open implements page.MergeRequests.
func (m mergeRequests) Open(ctx context.Context, request page.MergeRequest) (address string, err error) {
	change := forge.MergeRequest{Branch: nameBranch(request), Title: request.Title, Body: request.Body}
	var proposer *forge.Proposer
	for _, file := range request.Files {
		source, ok := m.findSource(file.Document)
		if !ok {
			return "", fmt.Errorf("no source of document %s takes merge requests: set merge_key_env", file.Document)
		}
		proposer = newProposer(source)
		original, err := proposer.ReadFile(ctx, file.Document)
		if err != nil {
			return "", explainRefusal(err)
		}
		if !bytes.Equal(original.Content, file.Before) {
			return "", page.ErrOutdated
		}
		change.Files = append(change.Files, forge.FileChange{Original: original, Content: file.After})
	}
	if proposer == nil {
		return "", errors.New("open a merge request: it changes nothing")
	}
	address, err = proposer.Propose(ctx, change)
	if errors.Is(err, forge.ErrOutdated) {
		return "", page.ErrOutdated
	}
	return address, explainRefusal(err)
}
