package forge

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// maxRepositories is how many repositories of an owner are read.
const maxRepositories = 2000

// syncing is one Sync. It is one goroutine's.
type syncing struct {
	connector *Connector
	options   Options
	speaks    dialect

	asker   *asker
	known   map[string]knownRepository // by full name
	yield   func(connect.Change, error) bool
	state   *state
	gone    []connect.Change // yielded at the end
	skipped map[string]int
	read    int   // changes but those of parts that could not be read
	refused error // why the last such part could not be read
}

// knownRepository is what the caller has of a repository: hashes by part and key.
type knownRepository map[Part]map[string]string

// add adds what is known of a document.
func (k knownRepository) add(part Part, key, hash string) {
	if k[part] == nil {
		k[part] = make(map[string]string)
	}
	k[part][key] = hash
}

// localID is what a document is known by in its source: "acme/app//issues/12".
func localID(repository string, part Part, key string) string {
	return repository + "//" + string(part) + "/" + key
}

// parseLocalID gives what localID joined.
func parseLocalID(local string) (repository string, part Part, key string, ok bool) {
	repository, rest, ok := strings.Cut(local, "//")
	name, key, found := strings.Cut(rest, "/")
	part = Part(name)
	return repository, part, key, ok && found && repository != "" && key != "" && slices.Contains(Parts, part)
}

// documentPath is where a document is shown to be: a file's path is its own.
func documentPath(repository string, part Part, key string) string {
	if part == Files {
		return repository + "/" + key
	}
	return repository + "/" + string(part) + "/" + key
}

func (c *Connector) sync(ctx context.Context, known connect.Known, yield func(connect.Change, error) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	at, err := c.place()
	if err != nil {
		return err
	}
	s := &syncing{
		connector: c, options: c.options, speaks: c.speaks, asker: c.newAsker(at), known: c.sortKnown(known), yield: yield, state: loadState(c.options.Folder), skipped: make(map[string]int),
	}
	defer s.asker.client.Close()
	repositories, err := s.asker.repositories(ctx, at)
	if err != nil {
		return explainError(err)
	}
	if err := s.readAll(ctx, repositories); err != nil {
		return explainError(err)
	}
	if s.read == 0 && s.refused != nil {
		return explainError(s.refused)
	}
	for _, change := range s.gone {
		if !yield(change, nil) {
			return errStopped
		}
	}
	if err := s.state.save(c.options.Folder); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped = nil
	for _, reason := range slices.Sorted(maps.Keys(s.skipped)) {
		c.skipped = append(c.skipped, connect.Skipped{Reason: reason, Count: s.skipped[reason]})
	}
	return nil
}

// explainError says what helps against an error of the forge as a whole.
func explainError(err error) error {
	status, _ := refusedStatus(err)
	switch status {
	case http.StatusUnauthorized:
		return fmt.Errorf("%w: the forge does not accept the token: make a new one", err)
	case http.StatusNotFound:
		return fmt.Errorf("%w: check the address, and that the token may read it", err)
	}
	return err
}

// sortKnown gives what is known of this source by repository.
func (c *Connector) sortKnown(known connect.Known) map[string]knownRepository {
	sorted := make(map[string]knownRepository)
	for id, hash := range known {
		local, ok := strings.CutPrefix(string(id), string(c.options.Source)+":")
		if !ok {
			continue
		}
		name, part, key, ok := parseLocalID(local)
		if !ok {
			continue
		}
		if sorted[name] == nil {
			sorted[name] = make(knownRepository)
		}
		sorted[name].add(part, key, hash)
	}
	return sorted
}

// repositories gives the repositories of a place, in order of their names.
func (a *asker) repositories(ctx context.Context, at place) ([]repository, error) {
	if at.repository != "" {
		answer, err := a.get(ctx, a.speaks.repositoryPath(at.repository))
		if err == nil {
			found, err := a.speaks.readRepository(answer.Body)
			return []repository{found}, err
		}
		if at.owner != at.repository || !isGone(err) {
			return nil, err
		}
	}
	var err error
	for _, path := range a.speaks.ownedPaths(at.owner) {
		var found []repository
		if found, err = a.ownedRepositories(ctx, path); err == nil || !isGone(err) {
			return found, err
		}
	}
	return nil, err
}

func (a *asker) ownedRepositories(ctx context.Context, path string) ([]repository, error) {
	var found []repository
	for raw, err := range a.list(ctx, path) {
		if err != nil {
			return nil, err
		}
		read, err := a.speaks.readRepository(raw)
		if err != nil {
			return nil, err
		}
		if len(found) == maxRepositories {
			return nil, fmt.Errorf("it has more than %d repositories: name one by its address", maxRepositories)
		}
		found = append(found, read)
	}
	slices.SortFunc(found, func(a, b repository) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(found, func(a, b repository) bool { return a.Name == b.Name }), nil
}

// readAll reads the repositories that there are, and notes those that are gone.
func (s *syncing) readAll(ctx context.Context, repositories []repository) error {
	there := make(map[string]bool)
	for _, r := range repositories {
		if !isSafeName(r.Name) {
			return fmt.Errorf("a repository has the name %.100q", r.Name)
		}
		there[r.Name] = true
		if err := s.readRepository(ctx, r); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		if there[name] {
			continue
		}
		for part := range s.known[name] {
			s.noteGone(name, part, maps.Keys(s.known[name][part]))
		}
	}
	for name := range s.state.Repositories {
		if !there[name] {
			delete(s.state.Repositories, name)
			if s.options.Folder != "" {
				if err := os.RemoveAll(s.connector.mirrorFolder(name)); err != nil {
					return fmt.Errorf("remove the mirror of %s: %w", name, err)
				}
			}
		}
	}
	slices.SortFunc(s.gone, func(a, b connect.Change) int { return strings.Compare(string(a.Document.ID), string(b.Document.ID)) })
	return nil
}

// isSafeName reports whether a repository's full name can be part of an id and of a folder's path.
func isSafeName(name string) bool {
	parts := strings.Split(name, "/")
	for _, part := range parts {
		if part == "" || strings.HasPrefix(part, ".") && strings.Trim(part, ".") == "" || strings.ContainsAny(part, "\\:#%?") || strings.ContainsFunc(part, isControl) {
			return false
		}
	}
	return len(parts) > 1
}

func isControl(r rune) bool { return r <= ' ' || r == 0x7f }

// noteGone notes documents that are to be yielded as deleted at the end.
func (s *syncing) noteGone(repository string, part Part, keys func(func(string) bool)) {
	for key := range keys {
		s.gone = append(s.gone, connect.Change{Kind: connect.Deleted, Document: knowledge.Document{
			ID: connect.NewDocumentID(s.options.Source, localID(repository, part, key)), Source: s.options.Source, Path: documentPath(repository, part, key),
		}})
	}
}

// reading is the reading of one repository.
type reading struct {
	*syncing
	repository
	audience knowledge.Audience
	settings string
	held     *repositoryState
	known    knownRepository // of the repository
	changed  changed
}

// readRepository reads the parts of one repository. A part that the forge refuses is named, and
// what is known of it stays; any other failure is one of the forge, and an error.
func (s *syncing) readRepository(ctx context.Context, r repository) error {
	audience, err := s.connector.audienceOf(r.Name, r.Private)
	if err != nil {
		return err
	}
	reads := &reading{
		syncing: s, repository: r, audience: audience, settings: settingsHash(audience, s.options.Owner), held: s.state.repository(r.Name), known: s.known[r.Name],
		changed: collectEvents(s.options.Changed, r.Name),
	}
	began := s.options.Now()
	if s.isLeft(reads, began) {
		for part, hashes := range reads.known {
			for _, key := range slices.Sorted(maps.Keys(hashes)) {
				if err := reads.yieldUnchanged(part, key, hashes[key]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, part := range Parts {
		if !s.connector.reads(part) || !r.Has[part] || r.Empty && part == Files {
			s.noteGone(r.Name, part, maps.Keys(reads.known[part]))
			continue
		}
		err := reads.readPart(ctx, part)
		if _, ok := refusedStatus(err); ok {
			err = reads.yieldRefused(part, err)
		}
		if err != nil {
			return err
		}
	}
	reads.held.Looked = began
	return nil
}

// isLeft reports whether a repository is left this time: others were named as changed, and it was
// looked at not long ago.
func (s *syncing) isLeft(r *reading, now time.Time) bool {
	return len(s.options.Changed) > 0 && !r.changed.named && s.options.Every > 0 && now.Sub(r.held.Looked) < s.options.Every
}

func (r *reading) readPart(ctx context.Context, part Part) error {
	switch part {
	case Files, Wiki:
		return r.readGit(ctx, part)
	case Issues, Discussions, Releases:
		how, ok := r.speaks.listing(r.repository, part)
		if !ok {
			r.noteGone(r.Name, part, maps.Keys(r.known[part]))
			return nil
		}
		return r.readItems(ctx, part, how)
	}
	return nil
}

// yieldRefused names a part that the forge does not let be read.
func (r *reading) yieldRefused(part Part, reason error) error {
	r.refused = reason
	if len(r.known[part]) == 0 && isGone(reason) && part != Files {
		r.skipped["without "+string(part)]++
		return nil
	}
	return r.yieldPart(part, reason)
}

func (r *reading) yieldUnchanged(part Part, key, hash string) error {
	return r.pass(connect.Change{Kind: connect.Unchanged, Document: knowledge.Document{
		ID: connect.NewDocumentID(r.options.Source, localID(r.Name, part, key)), Source: r.options.Source,
		Path: documentPath(r.Name, part, key), Hash: hash, Audience: r.audience,
	}})
}

func (s *syncing) pass(change connect.Change) error {
	if change.Kind != connect.Failed {
		s.read++
	}
	if !s.yield(change, nil) {
		return errStopped
	}
	return nil
}

// audienceOf gives whom the documents of a repository are for.
func (c *Connector) audienceOf(name string, private bool) (knowledge.Audience, error) {
	switch {
	case c.options.Audience != "":
		return c.options.Audience, nil
	case !private:
		return knowledge.PublicAudience, nil
	}
	group, err := GroupOf(c.options.Source, name)
	if err != nil {
		return "", err
	}
	return knowledge.NewAudience(group)
}

// mirrorFolder is where mirrors of a repository are.
func (c *Connector) mirrorFolder(name string) string {
	return filepath.Join(c.options.Folder, "repositories", filepath.FromSlash(strings.ReplaceAll(name, "/", "__")))
}
