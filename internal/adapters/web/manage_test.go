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

var exchangeField = regexp.MustCompile(`name="exchange" value="([^"]+)"`)

func TestTheLastMessageIsAnsweredAnew(t *testing.T) {
	bot := sampleBot()
	v := newVisitor(t, serve(t, bot))
	v.Say(t, "How do I roll back a release?")
	exchange := only(t, v.get(t), exchangeField)
	v.postTo(t, "rewrites", url.Values{"exchange": {exchange}})
	if got := bot.Messages(); len(got) != 2 || got[1].Text != got[0].Text || got[1].ID != got[0].ID {
		t.Fatalf("made anew: %+v", got)
	}
	v.postTo(t, "rewrites", url.Values{"exchange": {exchange}, "text": {"Who owns the billing dashboard?"}, "depth": {"brief"}})
	if got := bot.Messages(); len(got) != 3 || got[2].Text != "Who owns the billing dashboard?" || got[2].Depth != chat.Brief {
		t.Fatalf("edited: %+v", got[2:])
	}
	page := v.get(t)
	if strings.Contains(page, "How do I roll back a release?</p>") || !strings.Contains(page, "Who owns the billing dashboard?</p>") || strings.Count(page, `class="exchange"`) != 1 {
		t.Error("the page does not show the edited message alone")
	}
	v.Say(t, "And the database?")
	for name, form := range map[string]url.Values{
		"one that is not the last": {"exchange": {exchange}}, "one that is not there": {"exchange": {"m-none"}}, "no depth": {"exchange": {exchange}, "depth": {"abyss"}},
	} {
		v.postTo(t, "rewrites", form)
		if got := len(bot.Messages()); got != 4 {
			t.Errorf("%s was answered anew", name)
		}
	}
}

func TestAConversationIsRenamedFoundAndDeleted(t *testing.T) {
	w := serve(t, sampleBot())
	v := newVisitor(t, w)
	v.Say(t, "How do I roll back a release?")
	v.postTo(t, "title", url.Values{"title": {"Releases & how to undo them"}})
	if page := v.get(t); !strings.Contains(page, "<title>Releases &amp; how to undo them · Cairn</title>") {
		t.Error("the page has not got its title")
	}
	for words, want := range map[string]bool{"ROLL BACK": true, "with **ONE command": true, "billing": false, "": true} {
		_, list := v.openPage(t, v.page+"/found?words="+url.QueryEscape(words))
		if got := strings.Contains(list, `aria-current="page"`); got != want {
			t.Errorf("%q finds it: %t", words, got)
		}
	}
	other := newVisitor(t, w)
	other.page = v.page
	other.postTo(t, "deletion", nil)
	if !strings.Contains(v.get(t), `class="exchange"`) {
		t.Fatal("somebody else deleted it")
	}
	v.postTo(t, "deletion", nil)
	if page := v.get(t); strings.Contains(page, `class="exchange"`) || !strings.Contains(page, `id="empty"`) {
		t.Error("what was deleted is still shown")
	}
}

// TestASharedConversationIsReadByOthersWhoSignIn has one person share a conversation, which shows
// another nothing but its page, as the bot gives it to readers.
func TestASharedConversationIsReadByOthersWhoSignIn(t *testing.T) {
	p := openSigned(t, sampleBot())
	ann, bob := p.browser(), p.browser()
	p.signIn(ann, isAnn)
	p.signIn(bob, isBob)
	ann.post(t, url.Values{"text": {"How do I roll back a release?"}})
	ann.post(t, url.Values{"text": {"hello"}})
	status, _, _ := p.get(bob, ann.page)
	ann.postTo(t, "sharing", url.Values{"shared": {"yes"}})
	if status != http.StatusNotFound {
		t.Errorf("before it was shared: status %d", status)
	}
	status, _, shown := p.get(bob, ann.page)
	if status != http.StatusOK || !strings.Contains(shown, "You said: hello") || !strings.Contains(shown, "Not for you.") || !strings.Contains(shown, "data-static") {
		t.Errorf("shared: status %d of\n%s", status, shown)
	}
	for _, offer := range []string{`id="composer"`, "/rewrites", "/sharing", "/ratings", "A release is rolled back"} {
		if strings.Contains(shown, offer) {
			t.Errorf("a reader is shown %s", offer)
		}
	}
	for _, path := range pathsOf(ann.page)[1:] {
		if status, _, _ := p.get(bob, path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	bob.page = ann.page
	for _, action := range []string{"title", "sharing", "deletion", "rewrites"} {
		if page := bob.postTo(t, action, url.Values{"shared": {"no"}}); !strings.Contains(page, "no such conversation") {
			t.Errorf("a reader's %s: %s", action, page)
		}
	}
	ann.postTo(t, "sharing", url.Values{"shared": {"no"}})
	if status, _, _ := p.get(bob, ann.page); status != http.StatusNotFound {
		t.Errorf("shared no more: status %d", status)
	}
}

func TestAThumbDownAsksWhy(t *testing.T) {
	bot := sampleBot()
	v := newVisitor(t, serve(t, bot))
	v.Say(t, "How do I roll back a release?")
	run := chattest.Answer().Run
	v.Rate(t, chat.Up)
	if strings.Contains(v.get(t), "What was wrong?") {
		t.Error("a thumb up is asked why")
	}
	v.Rate(t, chat.Down)
	if !strings.Contains(v.get(t), "What was wrong?") {
		t.Fatal("a thumb down is not asked why")
	}
	said := only(t, v.get(t), ratedField)
	v.postTo(t, "ratings", url.Values{"said": {said}, "verdict": {"down"}, "words": {" Step 2 is gone. "}})
	if got := bot.Ratings(run); len(got) != 1 || got[0].Verdict != chat.Down || got[0].Reason != "Step 2 is gone." {
		t.Errorf("kept is %+v", got)
	}
	if page := v.get(t); strings.Contains(page, "What was wrong?") || !strings.Contains(page, "Thank you.") {
		t.Error("who said why is asked again")
	}
}

// shop offers collections and questions.
type shop struct{ *chattest.Bot }

func (shop) ReadableCollections(context.Context, chat.Reader) ([]chat.Collection, error) {
	return []chat.Collection{{Name: "handbook"}, {Name: "wiki & more"}}, nil
}

func (shop) ExampleQuestions(context.Context, chat.Reader) ([]string, error) {
	return []string{"What is a <cairn>?"}, nil
}

func TestAnEmptyPageOffersWhatTheIndexHas(t *testing.T) {
	bot := shop{sampleBot()}
	options := over(bot)
	options.Offers = bot
	w, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	run(t, w, bot)
	v := newVisitor(t, w)
	for _, want := range []string{"What is a &lt;cairn&gt;?</button>", `value="handbook"`, `value="wiki &amp; more"`} {
		if !strings.Contains(v.get(t), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	v.post(t, url.Values{"text": {"hello"}, "collection": {"handbook"}})
	v.post(t, url.Values{"text": {"hello"}, "collection": {"secrets"}})
	if got := bot.Messages(); len(got) != 1 || len(got[0].Collections) != 1 || got[0].Collections[0] != "handbook" {
		t.Errorf("arrived: %+v", got)
	}
}

func TestACitationShowsTheWordsOfItsPassage(t *testing.T) {
	w, _ := serveShelf(t)
	v := newVisitor(t, w)
	base := strings.TrimSuffix(w.URL(), "/")
	for ref, want := range map[chat.SourceRef]int{
		{Document: shownDocument, Passage: "3-bb"}: http.StatusOK, {Document: shownDocument, Passage: "3-old"}: http.StatusGone,
		{Document: closedDocument, Passage: "3-bb"}: http.StatusNotFound,
	} {
		status, shown := v.openPage(t, base+ref.Path()+"?quote")
		if status != want || status == http.StatusOK && (!strings.HasPrefix(shown, "<blockquote") || strings.Contains(shown, "<script") || strings.Contains(shown, "<html")) {
			t.Errorf("%+v gives status %d of\n%s", ref, status, shown)
		}
	}
}
