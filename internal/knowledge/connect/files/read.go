package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// readChange reads one file and compares it with what is known of it.
func (p *openedFolder) readChange(e entry, known connect.Known) connect.Change {
	document := knowledge.Document{
		ID:       knowledge.DocumentID(p.idPrefix() + displayName(e.name)),
		Source:   p.options.Source,
		Kind:     e.settings.kind,
		Path:     displayName(e.name),
		Owner:    e.settings.owner,
		Audience: e.settings.audience,
		State:    knowledge.StateLive,
	}
	failed := func(reason error) connect.Change {
		return connect.Change{Kind: connect.Failed, Document: document, Reason: reason}
	}
	if e.reason != nil {
		return failed(e.reason)
	}
	document.URL = p.fileURL(e)
	if e.settings.site != nil {
		_, document.Language, _ = e.settings.site.pageOf(e.name)
	}
	content, info, err := p.readFile(e.name)
	if err != nil {
		return failed(err)
	}
	document.Modified = info.ModTime().UTC()
	document.Hash = e.settings.contentHash(content, document.URL)
	mediaType := parse.Detect(e.name, content)
	if mediaType == parse.Source {
		document.Kind = knowledge.KindCode
	}
	if !parse.Supported(mediaType) && (!p.options.Pictures || !parse.IsPicture(mediaType)) {
		return failed(&parse.UnsupportedError{Name: document.Path, MediaType: mediaType})
	}
	if known[document.ID] == document.Hash {
		return connect.Change{Kind: connect.Unchanged, Document: document}
	}
	return connect.Change{
		Kind: connect.Upserted, Document: document, Content: content, MediaType: mediaType,
		Link: func(target string) string { return e.settings.linkAddress(e.name, target) },
	}
}

// displayName returns a name that can be kept and printed, whatever bytes the file system has.
func displayName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
}

// fileURL returns the address of a file: below the URL base, else in the file system.
func (p *openedFolder) fileURL(e entry) string {
	if e.settings.site != nil {
		if address, _, ok := e.settings.site.pageOf(e.name); ok {
			return address
		}
	}
	if e.settings.urlBase == "" {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(p.path, filepath.FromSlash(e.name)))}).String()
	}
	return e.settings.addressOf(e.name)
}

var errChanged = errors.New("it changed while it was read: it will be read at the next ingest")

// readFile returns the content of a file as it was at one moment. One that changes
// meanwhile is read once more.
func (p *openedFolder) readFile(name string) ([]byte, fs.FileInfo, error) {
	content, info, err := p.readOnce(name)
	if errors.Is(err, errChanged) {
		content, info, err = p.readOnce(name)
	}
	return content, info, err
}

func (p *openedFolder) readOnce(name string) (content []byte, info fs.FileInfo, err error) {
	// Without blocking: the file may have become a pipe since it was listed.
	opened, err := p.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, openError(err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return readStable(opened, p.options.MaxBytes)
}

// statReader is what readStable needs of an open file.
type statReader interface {
	io.Reader
	Stat() (fs.FileInfo, error)
}

// readSize reads a file that should have a size, in the memory of that size: one byte more
// where it has grown, less where it has shrunk.
func readSize(file io.Reader, size int64) ([]byte, error) {
	content := make([]byte, size+1)
	n, err := io.ReadFull(file, content)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return content[:n], err
}

// readStable reads a file to its end, unless it is over the limit, and reports whether
// it was written to meanwhile.
func readStable(file statReader, limit int64) ([]byte, fs.FileInfo, error) {
	before, err := file.Stat()
	if err != nil {
		return nil, nil, openError(err)
	}
	if err := notRegular(before); err != nil {
		return nil, nil, err
	}
	if before.Size() > limit {
		return nil, nil, &connect.TooLargeError{Size: before.Size(), Limit: limit}
	}
	content, err := readSize(file, before.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("it can't be read: %w", err)
	}
	after, err := file.Stat()
	if err != nil {
		return nil, nil, openError(err)
	}
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || int64(len(content)) != before.Size() {
		return nil, nil, errChanged
	}
	return content, before, nil
}
