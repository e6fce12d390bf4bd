package web

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// documentPage is a document as templates/source.html shows it. Its strings are cleaned.
type documentPage struct {
	Title, Place, Collection, Language string
	Original                           string // address; "" for none
	Owner, Freshness, Changed, Read    string
	Stale                              bool // the freshness deserves a look
	Audience, AllowedBy                string
	Moved                              bool // the passage that was cited has changed since
	Marked                             bool // a passage is marked
	Earlier, Later                     string
	Parts                              []documentPart
	Person                             string
}

// documentPart is one passage. Path and Heading are set where they differ from those of the
// passage before it.
type documentPart struct {
	Path, Heading string
	Text          template.HTML
	Marked        bool
	Original      string
}

func (w *Web) sourceRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET "+chat.SourcePath+"{document}", w.withVisitor(w.serveSource))
	mux.HandleFunc("GET "+chat.SourcePath+"{document}/{passage}", w.withVisitor(w.serveSource))
}

// serveSource shows a document around a passage to whoever may read it. Nothing tells a document
// that the visitor may not read from one that is not there.
func (w *Web) serveSource(out http.ResponseWriter, request *http.Request) {
	ref, err := chat.ParseSourceRef(request.PathValue("document"), request.PathValue("passage"))
	by := w.findCaller(request)
	var text chat.SourceText
	if err == nil {
		text, err = w.options.Sources.ReadSource(request.Context(), ref, w.readerOf(by))
	}
	if errors.Is(err, chat.ErrUnknownSource) {
		w.responder.renderFailure(out, request, http.StatusNotFound, "There is no such document, or you may not read it.")
		return
	}
	if err == nil && request.URL.Query().Has("quote") {
		manager{w}.serveQuote(out, request, text)
		return
	}
	var page documentPage
	if err == nil {
		page, err = newDocumentPage(text, w.options.Now())
	}
	if err == nil {
		page.Person = by.name
		page.Earlier, page.Later = neighbourPath(ref, text.Earlier), neighbourPath(ref, text.Later)
		err = w.responder.renderPage(out, http.StatusOK, "source-page", page)
	}
	if err != nil {
		w.responder.refuseForm(out, request, err)
	}
}

func neighbourPath(ref chat.SourceRef, passage string) string {
	if passage == "" {
		return ""
	}
	ref.Passage = passage
	return ref.Path()
}

func newDocumentPage(text chat.SourceText, now time.Time) (documentPage, error) {
	source := text.Source
	page := documentPage{
		Title: cmp.Or(markup.CleanLine(source.Title), markup.CleanLine(source.Path), "Untitled"), Place: markup.CleanLine(source.Path),
		Collection: markup.CleanLine(text.Collection), Language: markup.CleanLine(text.Language), Owner: markup.CleanLine(source.Owner),
		Freshness: markup.Freshness(source, now), Stale: source.State != "live", Read: dateText(text.Indexed), Changed: dateText(source.Modified),
		Audience: markup.CleanLine(text.Audience), AllowedBy: markup.CleanLine(text.AllowedBy), Moved: text.Changed,
	}
	var before []string
	for i, passage := range text.Passages {
		part := documentPart{Marked: passage.Marked}
		part.Original, _ = markup.WebAddress(passage.URL)
		if i == 0 || passage.Marked {
			page.Original = cmp.Or(part.Original, page.Original)
		}
		if last := len(passage.Headings) - 1; last >= 0 && !slices.Equal(passage.Headings, before) {
			part.Heading = markup.CleanLine(passage.Headings[last])
			if part.Path = markup.CleanLine(strings.Join(passage.Headings[:last], " › ")); part.Path == page.Title {
				part.Path = ""
			}
		}
		before = passage.Headings
		page.Marked = page.Marked || passage.Marked
		var err error
		if part.Text, err = renderMarkdown(passage.Text, nil, nil); err != nil {
			return documentPage{}, err
		}
		page.Parts = append(page.Parts, part)
	}
	return page, nil
}

// viewPath is where the page shows a section of a source as Cairn has it, "" for one that is not
// in the index.
func (l sourceLister) viewPath(source chat.Source, section chat.Section) string {
	if !l.opens || source.Document == "" {
		return ""
	}
	return chat.SourceRef{Document: source.Document, Passage: section.Passage}.Path()
}

// dateText is a day, "" for none.
func dateText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2 January 2006")
}
