// Package drive is the connector for Google Drive: the files in one folder or shared drive and in all
// folders below it, as a service account may read them.
//
// Each sync lists them all with their versions, folder by folder, and reads those that changed:
// Google's own documents by an export, other files as they are. Drive tells who may read a file only to
// those who may share it, and not at all for a shared drive, so that all files are for one audience.
package drive

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

// Options say what to read.
type Options struct {
	Source knowledge.SourceID
	// URL is https://drive.google.com/drive/folders/ID, with the id of a folder or a shared drive; or
	// the same below the address of a gateway to the API.
	URL          string
	Key          string // the JSON key of a service account
	MaxBytes     int64  // of one document; 0: 32 MiB
	AllowPrivate bool
	TLS          *tls.Config // nil: the system's certificates
	// Audience is whom all documents are for. It is required.
	Audience knowledge.Audience
	Kind     knowledge.Kind // "": drive
	Owner    string         // of all documents; "": as Drive has it
}

const defaultMaxBytes = 32 << 20

// Connector reads one folder. Its methods may be called concurrently.
type Connector struct {
	options Options

	mu      sync.Mutex
	skipped []connect.Skipped
}

var _ interface {
	connect.Connector
	connect.Skipper
	connect.Checker
} = (*Connector)(nil)

// New returns the connector for a folder. Options are checked by Sync.
func New(options Options) *Connector {
	if options.MaxBytes == 0 {
		options.MaxBytes = defaultMaxBytes
	}
	if options.Kind == "" {
		options.Kind = knowledge.KindDrive
	}
	return &Connector{options: options}
}

// Source returns the source that the documents belong to.
func (c *Connector) Source() knowledge.SourceID { return c.options.Source }

// Skipped returns what the last finished Sync passed over, by reason.
func (c *Connector) Skipped() []connect.Skipped {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.skipped)
}

var (
	errNoAudience = errors.New("it has no audience: Drive does not tell a service account who may read a file, so say with audience whom the files of the folder are for")

	// errStopped is that the caller wants no more changes.
	errStopped = errors.New("stopped")
)

// Sync yields the files in order of their paths, then what is gone.
func (c *Connector) Sync(ctx context.Context, known connect.Known) iter.Seq2[connect.Change, error] {
	return func(yield func(connect.Change, error) bool) {
		err := c.sync(ctx, known, yield)
		if err != nil && !errors.Is(err, errStopped) {
			yield(connect.Change{}, fmt.Errorf("read %s: %w", c.options.URL, err))
		}
	}
}

func (c *Connector) sync(ctx context.Context, known connect.Known, yield func(connect.Change, error) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.options.Audience == "" {
		return errNoAudience
	}
	a, err := c.newAsker(ctx)
	if err != nil {
		return err
	}
	defer a.client.Close()
	in, err := a.listFiles(ctx)
	if err != nil {
		return a.explainError(err)
	}
	s := &syncing{connector: c, asker: a, known: known, yield: yield, passed: make(map[knowledge.DocumentID]bool)}
	for _, one := range in.files {
		if err := s.passFile(ctx, one); err != nil {
			return a.explainError(err)
		}
	}
	if err := s.passMissing(ctx); err != nil {
		return a.explainError(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped = nil
	for _, reason := range slices.Sorted(maps.Keys(in.skipped)) {
		c.skipped = append(c.skipped, connect.Skipped{Reason: reason, Count: in.skipped[reason]})
	}
	return nil
}

// syncing is one Sync. It is one goroutine's.
type syncing struct {
	connector *Connector
	asker     *asker
	known     connect.Known
	yield     func(connect.Change, error) bool
	passed    map[knowledge.DocumentID]bool
	failures  int // documents in a row that Drive failed to give
}

// maxFailures is how many documents in a row Drive may fail to give, with a status of 500 and above,
// before the sync ends: some documents it never exports, and they keep no other from being read.
const maxFailures = 3

func (s *syncing) pass(change connect.Change) error {
	if !s.yield(change, nil) {
		return errStopped
	}
	return nil
}

// passFile yields one file, with its content where it changed.
func (s *syncing) passFile(ctx context.Context, one file) error {
	document := s.connector.document(one)
	s.passed[document.ID] = true
	if s.known[document.ID] == document.Hash {
		return s.pass(connect.Change{Kind: connect.Unchanged, Document: document})
	}
	content, mediaType, err := s.asker.readContent(ctx, one)
	if err != nil {
		if isServerError(err) {
			s.failures++
		}
		if !isDocumentError(err) && (!isServerError(err) || s.failures > maxFailures) {
			return err
		}
		return s.pass(connect.Change{Kind: connect.Failed, Document: document, Reason: err})
	}
	s.failures = 0
	return s.pass(connect.Change{Kind: connect.Upserted, Document: document, Content: content, MediaType: mediaType, Link: linkAddress})
}

// maxAsked is how many files that the list lacks are asked for one by one before they count as gone.
// More of them are left to the one who confirms that much is gone.
const maxAsked = 200

// passMissing yields what the list lacks as gone, unless it is there when it is asked for: a list of
// Drive may lag behind.
func (s *syncing) passMissing(ctx context.Context) error {
	source := s.connector.options.Source
	var missing []knowledge.DocumentID
	for id := range s.known {
		if connect.IsFrom(id, source) && !s.passed[id] {
			missing = append(missing, id)
		}
	}
	slices.Sort(missing)
	var gone []connect.Change
	for at, id := range missing {
		key := localID(source, id)
		if at < maxAsked && safeID.MatchString(key) {
			one, ok, err := s.asker.findDocument(ctx, key)
			if err != nil {
				return err
			}
			if ok {
				if err := s.passFile(ctx, one); err != nil {
					return err
				}
				continue
			}
		}
		gone = append(gone, connect.Change{Kind: connect.Deleted, Document: knowledge.Document{ID: id, Source: source, Path: key}})
	}
	for _, change := range gone {
		if err := s.pass(change); err != nil {
			return err
		}
	}
	return nil
}

// localID gives the id of the file of a document.
func localID(source knowledge.SourceID, id knowledge.DocumentID) string {
	return strings.TrimPrefix(string(id), string(source)+":")
}

// document describes a file.
func (c *Connector) document(one file) knowledge.Document {
	document := knowledge.Document{
		ID: connect.NewDocumentID(c.options.Source, one.ID), Source: c.options.Source, Kind: c.options.Kind, Path: one.path, URL: one.address(),
		Owner: c.options.Owner, Modified: one.Modified.UTC(), Audience: c.options.Audience, State: knowledge.StateLive,
	}
	if one.isGoogle() { // another file may have a title in its content
		document.Title = cleanName(one.Name)
	}
	if document.Owner == "" && len(one.Owners) > 0 {
		document.Owner = cleanName(one.Owners[0].Name)
	}
	document.Hash = hashOf(one, document)
	return document
}

// address is where people open a file.
func (f file) address() string {
	if link, err := url.Parse(f.Link); err == nil && link.Scheme == "https" && link.Host != "" {
		return f.Link
	}
	return "https://drive.google.com/file/d/" + f.ID + "/view"
}

// hashVersion begins the hashes of this form. One of another is of a file that is read anew.
const hashVersion = "d1"

// hashOf stands for a file as it is, and whom it is for. The version of a file counts where it has no
// checksum: it rises also with what changes nothing in the content.
func hashOf(one file, document knowledge.Document) string {
	content := one.Checksum
	if content == "" {
		content = "version " + one.Version
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q", one.path, one.Type, document.URL, document.Audience, document.Owner, content))
	return fmt.Sprintf("%s %d %s", hashVersion, one.Modified.UnixMilli(), hex.EncodeToString(sum[:12]))
}

// Check asks Drive for one file: whether it changed, or is gone.
func (c *Connector) Check(ctx context.Context, document knowledge.Document) (knowledge.State, error) {
	key := localID(c.options.Source, document.ID)
	if !connect.IsFrom(document.ID, c.options.Source) || !safeID.MatchString(key) {
		return "", fmt.Errorf("check document %s: it is none of source %s", document.ID, c.options.Source)
	}
	a, err := c.newAsker(ctx)
	if err != nil {
		return "", fmt.Errorf("check document %s: %w", document.ID, err)
	}
	defer a.client.Close()
	one, ok, err := a.findDocument(ctx, key)
	switch {
	case err != nil:
		return "", fmt.Errorf("check document %s: %w", document.ID, a.explainError(err))
	case !ok:
		return knowledge.StateGone, nil
	case c.document(one).Hash == document.Hash:
		return knowledge.StateLive, nil
	}
	return knowledge.StateChanged, nil
}

// linkAddress gives the address of what a link in a document leads to, where the link has it whole:
// files in Drive have no addresses that are relative to each other.
func linkAddress(target string) string {
	to, err := url.Parse(strings.TrimSpace(target))
	if err == nil && (to.Scheme == "mailto" || (to.Scheme == "https" || to.Scheme == "http") && to.Host != "") {
		return to.String()
	}
	return ""
}
