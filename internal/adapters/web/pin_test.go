package web

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

var pinLink = regexp.MustCompile(`href="(/t/[A-Z2-7]*/pins/[^"]*)"`)

// pinboard lets one person pin.
type pinboard struct {
	expert    chat.UserID
	everybody bool // is an expert
	pinned    []chat.PinDraft
}

func (p *pinboard) DraftPin(_ context.Context, run chat.RunID, by chat.Reader) (chat.PinDraft, error) {
	if by.User != p.expert && !p.everybody || by.Identity != nil {
		return chat.PinDraft{}, &chat.PinError{Text: "Pinning is for experts."}
	}
	return chat.PinDraft{Question: "how to <roll back>?", Text: "The answer of " + string(run) + " </textarea>"}, nil
}

func (p *pinboard) PinAnswer(ctx context.Context, run chat.RunID, by chat.Reader, draft chat.PinDraft) (chat.PinnedAnswer, error) {
	if _, err := p.DraftPin(ctx, run, by); err != nil {
		return chat.PinnedAnswer{}, err
	}
	if draft.Text == "bad" {
		return chat.PinnedAnswer{}, &chat.PinError{Text: "Nothing was pinned: it is bad."}
	}
	p.pinned = append(p.pinned, draft)
	return chat.PinnedAnswer{Question: draft.Question, Expires: chattest.Now}, nil
}

func (p *pinboard) UnpinAnswer(context.Context, chat.RunID, chat.Reader) (chat.PinnedAnswer, error) {
	return chat.PinnedAnswer{}, chat.ErrUnknownRun
}

func TestAnAnswerIsEditedBeforeItIsPinned(t *testing.T) {
	bot, pins := sampleBot(), &pinboard{}
	pinnable := chattest.Answer()
	pinnable.Actions = []chat.Action{chat.PinAnswer}
	bot.On("pin me", chattest.Says(pinnable))
	options := over(bot)
	options.Pins = pins
	w, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	run(t, w, bot)
	v := newVisitor(t, w)
	v.Say(t, "pin me")
	link := strings.TrimSuffix(w.URL(), "/") + only(t, v.get(t), pinLink)
	if status, page := v.openPage(t, link); status != http.StatusForbidden || !strings.Contains(page, "Pinning is for experts.") {
		t.Errorf("one who may not: %d\n%s", status, page)
	}
	pins.expert = bot.Messages()[0].Author
	if _, page := v.openPage(t, link); !strings.Contains(page, `value="how to &lt;roll back&gt;?"`) || !strings.Contains(page, "The answer of "+string(pinnable.Run)+" &lt;/textarea&gt;</textarea>") {
		t.Errorf("to edit:\n%s", page)
	}
	action := link[len(v.page)+1:]
	if page := v.postTo(t, action, url.Values{"question": {"How?"}, "text": {"bad"}}); !strings.Contains(page, "it is bad.") || !strings.Contains(page, ">bad</textarea>") {
		t.Errorf("refused:\n%s", page)
	}
	if page := v.postTo(t, action, url.Values{"question": {"How?"}, "text": {" So. [1]\r\n"}}); !strings.Contains(page, "Pinned: I give this answer to “How?”") {
		t.Errorf("pinned:\n%s", page)
	}
	if len(pins.pinned) != 1 || pins.pinned[0] != (chat.PinDraft{Question: "How?", Text: "So. [1]"}) {
		t.Errorf("pinned are %+v", pins.pinned)
	}
	other := newVisitor(t, w)
	other.page = v.page
	if page := other.postTo(t, action, url.Values{"question": {"How?"}, "text": {"Mine."}}); len(pins.pinned) != 1 {
		t.Errorf("somebody else pinned:\n%s", page)
	}
}
