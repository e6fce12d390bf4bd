package web

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

var (
	errNoDocument = errors.New("there is no such document in this conversation")
	errNotKept    = errors.New("this document is not kept any more; ask again, and it is made anew")
)

// documentView is a document that goes with a reply. Hint is why it can't be opened.
type documentView struct {
	Name, Size, Hint string
	Address          string // "" where it can't be opened
	Picture          bool   // it is shown, too
}

// newReplySaid is a reply as the page keeps it: what is in its documents is left to the
// transcript.
func newReplySaid(reply chat.Reply) said {
	var kept []bool
	for _, document := range reply.Documents {
		kept = append(kept, document.Kept())
	}
	reply = reply.WithoutContent()
	return said{reply: &reply, kept: kept}
}

func documentViews(in saidView, what said) []documentView {
	if what.reply == nil {
		return nil
	}
	var views []documentView
	for i, document := range what.reply.Documents {
		v := documentView{Name: markup.CleanLine(document.Name), Size: markup.Size(document.Size)}
		switch {
		case !what.kept[i]:
			v.Hint = "not kept any more"
		case !in.Mine:
			v.Hint = "for the person who asked"
		default:
			v.Address = fmt.Sprintf("/t/%s/documents/%s/%d", in.Thread, in.Place, i)
			v.Picture = document.MediaType == render.SVG
		}
		views = append(views, v)
	}
	return views
}

// drawing lets a picture have styles of its own, and nothing else.
const drawing = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// serveDocument gives the owner of a conversation a document of a reply in it, to be saved:
// no browser shows it as a page of this server. A picture can be a part of one.
func (w *Web) serveDocument(out http.ResponseWriter, request *http.Request, in visit) {
	if !in.canWrite() {
		w.responder.refuseForm(out, request, errNotYours)
		return
	}
	number, err := strconv.Atoi(request.PathValue("number"))
	if err != nil {
		w.responder.refuseForm(out, request, errNoDocument)
		return
	}
	document, err := w.findDocument(request.Context(), in.thread, request.PathValue("place"), number)
	if err != nil {
		w.responder.refuseForm(out, request, err)
		return
	}
	kind := "application/octet-stream"
	switch told, _, err := mime.ParseMediaType(document.MediaType); {
	case err != nil:
	case told == "text/markdown":
		kind = "text/markdown; charset=utf-8"
	case told == render.SVG:
		kind = render.SVG
		out.Header().Set("Content-Security-Policy", drawing)
	}
	out.Header().Set("Content-Type", kind)
	out.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": markup.CleanLine(document.Name)}))
	if _, err := out.Write(document.Content); err != nil {
		w.options.Logger.Debug("send document", "error", err)
	}
}

// findDocument gives a document, by its number from 0, of the reply at a place.
func (w *Web) findDocument(ctx context.Context, in *thread, place string, number int) (chat.Document, error) {
	_, what := in.findExplained(place)
	if what == nil || what.reply == nil || number < 0 || number >= len(what.reply.Documents) {
		return chat.Document{}, errNoDocument
	}
	turns, err := w.options.Transcripts.Transcript(ctx, chatID(in.id))
	if err != nil {
		return chat.Document{}, fmt.Errorf("read the transcript of thread %s: %w", in.id, err)
	}
	for _, turn := range turns {
		if turn.Reply == nil || turn.Reply.Run != what.runID() || number >= len(turn.Reply.Documents) {
			continue
		}
		if document := turn.Reply.Documents[number]; document.Kept() && document.Name == what.reply.Documents[number].Name {
			return document, nil
		}
	}
	return chat.Document{}, errNotKept
}
