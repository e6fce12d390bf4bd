package drive

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/remote"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// exports are the formats that Google's own documents are asked for in, by their types: the next one
// where Drive does not give the one before.
var exports = map[string][]string{
	googleType + "document":     {parse.Markdown, parse.HTML},
	googleType + "spreadsheet":  {parse.XLSX},
	googleType + "presentation": {parse.PPTX},
}

// skipReason says why a file is passed over without a look; "" is that it is a document.
func (f file) skipReason() string {
	kind, _, _ := strings.Cut(f.Type, "/")
	switch {
	case f.Type == shortcutType:
		return "shortcuts"
	case f.isGoogle() && exports[f.Type] == nil:
		return "forms, drawings, sites, maps and scripts of Google"
	case kind == "image" || kind == "audio" || kind == "video":
		return "pictures, sound and films"
	case !f.isGoogle() && parse.Detect(f.Name, nil) == parse.Source:
		return "source code"
	}
	return ""
}

// isGoogle reports whether a file is one of Google's own kinds, which has no content but exports.
func (f file) isGoogle() bool { return strings.HasPrefix(f.Type, googleType) }

// isReadable reports whether a file may be of a format that is read, by its type and its name.
func (f file) isReadable() bool {
	return f.isGoogle() || strings.HasPrefix(f.Type, "text/") || parse.Supported(f.Type) || parse.Supported(parse.Detect(f.Name, nil))
}

// isDocumentError reports whether an error concerns one document alone.
func isDocumentError(err error) bool {
	if _, ok := errors.AsType[*connect.TooLargeError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*parse.UnsupportedError](err); ok {
		return true
	}
	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

// isServerError reports whether Drive failed to answer a request, also when it was asked again, and does
// not ask to be left alone.
func isServerError(err error) bool {
	if _, ok := errors.AsType[*connect.UnavailableError](err); ok {
		return false
	}
	failed, ok := errors.AsType[*remote.StatusError](err)
	return ok && failed.Status >= http.StatusInternalServerError
}

// readContent reads a document, and says what it is.
func (a *asker) readContent(ctx context.Context, one file) (content []byte, mediaType string, err error) {
	if one.isGoogle() {
		return a.exportDocument(ctx, one)
	}
	if !one.isReadable() {
		return nil, "", &parse.UnsupportedError{Name: one.path, MediaType: one.Type}
	}
	if one.Size > a.limit {
		return nil, "", &connect.TooLargeError{Size: one.Size, Limit: a.limit}
	}
	content, err = a.getContent(ctx, "/files/"+one.ID, url.Values{"alt": {"media"}, "supportsAllDrives": {"true"}})
	if err != nil {
		return nil, "", err
	}
	if mediaType = parse.Detect(one.Name, content[:min(len(content), parse.DetectBytes)]); !parse.Supported(mediaType) {
		return nil, "", &parse.UnsupportedError{Name: one.path, MediaType: mediaType}
	}
	return content, mediaType, nil
}

// embeddedPicture is a picture in the Markdown of a Google document, as it stands at its end.
var embeddedPicture = regexp.MustCompile(`(?m)^\[image\d+\]: *<data:image/[^>\n]*>\r?\n?`)

// exportDocument reads one of Google's own documents, in the first format that Drive gives.
func (a *asker) exportDocument(ctx context.Context, one file) (content []byte, mediaType string, err error) {
	for _, mediaType = range exports[one.Type] {
		content, err = a.getContent(ctx, "/files/"+one.ID+"/export", url.Values{"mimeType": {mediaType}})
		if err == nil || statusOf(err) != http.StatusBadRequest && statusOf(err) != http.StatusNotFound {
			break
		}
	}
	if mediaType == parse.Markdown {
		content = embeddedPicture.ReplaceAll(content, nil)
	}
	return content, mediaType, err
}
