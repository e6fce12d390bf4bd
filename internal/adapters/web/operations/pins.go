package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/cairn-bot/cairn/internal/audit"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/curated"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/runs"
)

// Pins are the answers that are pinned to questions.
type Pins interface {
	List(ctx context.Context) ([]curated.Answer, error)
	// Pin has an answer given to a question from now on, by somebody's name. It has no Run.
	Pin(ctx context.Context, question, text, by string) error
	// DraftRun gives what PinRun pins of a run as it is. Errors are those of PinRun.
	DraftRun(ctx context.Context, run chat.RunID, by string) (chat.PinDraft, error)
	// PinRun pins the answer of a run; what the draft has takes the place of question or answer.
	// chat.ErrUnknownRun, or a *chat.PinError.
	PinRun(ctx context.Context, run chat.RunID, by string, draft chat.PinDraft) error
	// Unpin removes an answer: curated.ErrUnknown.
	Unpin(ctx context.Context, id curated.ID) error
}

// pinsScreen lists pinned answers, and changes them.
type pinsScreen struct {
	pins      Pins
	operator  *operator
	viewer    viewer
	now       clock
	responder *responder
}

// pinsView is what the template operations-pins shows.
type pinsView struct {
	Pins                 []pinView
	MaxQuestion, MaxText int
	Run                  string // whose answer is edited; "" for one that is written by hand
	Question, Text       string // to begin with
}

type pinView struct {
	ID, Question, Name string
	Run                string // "" for one that was written by hand
	Sources            int
	Pinned             momentView
	Expires            string
	Expired            bool
}

func (s *pinsScreen) view(ctx context.Context, query url.Values) (any, error) {
	all, err := s.pins.List(ctx)
	if err != nil {
		return nil, err
	}
	v := pinsView{MaxQuestion: curated.MaxQuestion, MaxText: curated.MaxText}
	if run := query.Get("run"); run != "" {
		if err := s.addDraft(ctx, run, &v); err != nil {
			return nil, err
		}
	}
	for _, answer := range all {
		shown, err := s.viewer.mayRead(ctx, answer.Documents())
		if err != nil {
			return nil, err
		}
		pin := pinView{
			ID: string(answer.ID), Question: markup.CleanLine(answer.Question), Name: markup.CleanLine(answer.Name), Run: string(answer.Run),
			Sources: len(answer.Documents()), Pinned: s.now.moment(answer.Pinned), Expires: answer.Expires.Format("2006-01-02"), Expired: answer.IsExpired(s.now()),
		}
		if !shown {
			pin.Question = hiddenRequest
		}
		v.Pins = append(v.Pins, pin)
	}
	return v, nil
}

// addDraft adds the answer of a run, to be edited before it is pinned.
func (s *pinsScreen) addDraft(ctx context.Context, named string, v *pinsView) error {
	run, err := s.findReadable(ctx, named)
	if err != nil {
		return err
	}
	draft, err := s.pins.DraftRun(ctx, run, who(ctx).Who)
	if refused, ok := errors.AsType[*chat.PinError](err); ok {
		err = &problem{http.StatusConflict, refused.Text}
	}
	v.Run, v.Question, v.Text = string(run), markup.CleanLine(draft.Question), markup.Clean(draft.Text)
	return err
}

// mayRead reports whether the person of the context may read some documents.
func (v viewer) mayRead(ctx context.Context, documents []knowledge.DocumentID) (bool, error) {
	person := who(ctx).identity()
	if person == nil || len(documents) == 0 {
		return true, nil
	}
	ids := make([]string, len(documents))
	for i, id := range documents {
		ids[i] = string(id)
	}
	readable, err := v.redactor.ReadableDocuments(ctx, *person, ids)
	for _, id := range ids {
		if !readable[id] {
			return false, err
		}
	}
	return err == nil, err
}

// servePin pins what a form says, or the answer of the run that it names.
func (s *pinsScreen) servePin(out http.ResponseWriter, request *http.Request) {
	by, form := who(request.Context()).Who, request.PostForm
	run, question := form.Get("run"), strings.TrimSpace(form.Get("question"))
	target, pin := run, func(ctx context.Context) error {
		id, err := s.findReadable(ctx, run)
		if err != nil {
			return err
		}
		return s.pins.PinRun(ctx, id, by, chat.PinDraft{Question: question, Text: form.Get("text")})
	}
	if run == "" {
		target, pin = "", func(ctx context.Context) error {
			return s.pins.Pin(ctx, question, strings.TrimSpace(form.Get("text")), by)
		}
		draft := curated.Answer{ID: "new", Question: question, Text: form.Get("text"), Expires: s.now(), Pinned: s.now().Add(-1)}
		if err := draft.Validate(); err != nil {
			s.responder.refuseRequest(out, request, &problem{http.StatusBadRequest, "Nothing was pinned: " + err.Error() + "."})
			return
		}
	}
	s.change(out, request, pinChange{audit.PinAnswer, target, "pinned", pin})
}

// findReadable finds a run whose answer the person of the context may read.
func (s *pinsScreen) findReadable(ctx context.Context, run string) (chat.RunID, error) {
	record, err := loadRecord(ctx, s.operator.records, run)
	if err != nil {
		return "", err
	}
	shown, err := s.viewer.showRecords(ctx, []runs.Record{record})
	if err != nil {
		return "", err
	}
	if shown[0].hidden {
		return "", &problem{http.StatusForbidden, "Nothing was pinned: this answer rests on what you may not read."}
	}
	return record.ID, nil
}

func (s *pinsScreen) serveUnpin(out http.ResponseWriter, request *http.Request) {
	id := request.PostForm.Get("pin")
	s.change(out, request, pinChange{audit.UnpinAnswer, id, "unpinned", func(ctx context.Context) error { return s.pins.Unpin(ctx, curated.ID(id)) }})
}

// pinChange is a change of what is pinned.
type pinChange struct {
	kind   audit.Action
	target string
	did    string // among notices
	do     func(ctx context.Context) error
}

func (s *pinsScreen) change(out http.ResponseWriter, request *http.Request, change pinChange) {
	err := s.operator.recordAction(request, change.kind, change.target, change.do)
	if refused, ok := errors.AsType[*chat.PinError](err); ok {
		err = &problem{http.StatusConflict, refused.Text}
	}
	switch {
	case errors.Is(err, curated.ErrUnknown):
		err = &problem{http.StatusNotFound, "It is not pinned any more."}
	case errors.Is(err, curated.ErrFull):
		err = &problem{http.StatusConflict, "As many answers are pinned as are kept. Unpin some first."}
	}
	if err != nil {
		s.responder.refuseRequest(out, request, err)
		return
	}
	http.Redirect(out, request, Root+"/pins?did="+change.did, http.StatusSeeOther)
}
