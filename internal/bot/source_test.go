package bot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
)

// putMany stores a document of several passages.
func (o *agency) putMany(id knowledge.DocumentID, audience knowledge.Audience, texts ...string) []knowledge.Passage {
	o.t.Helper()
	entry := indextest.TextEntry(id, texts[0])
	entry.Document.Audience = audience
	first := entry.Passages[0]
	entry.Passages = nil
	for i, text := range texts {
		passage := first
		passage.ID, passage.Position, passage.Text, passage.Hash = knowledge.MakePassageID(id, i), i, text, indextest.TextEntry(id, text).Passages[0].Hash
		entry.Passages = append(entry.Passages, passage)
	}
	if err := o.index.Write(o.t.Context(), index.Batch{Put: []index.Entry{entry}}); err != nil {
		o.t.Fatal(err)
	}
	return entry.Passages
}

func (o *agency) bot() *bot.Bot {
	o.t.Helper()
	made, err := bot.New(bot.Options{
		Store: o.queue, Flows: o.flows, Logger: quietLogger, Library: o.library,
		Access: access.NewResolver(access.Options{Adapters: map[string]any{"platform": o.rooms}, Logger: quietLogger}),
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return made
}

func marked(text chat.SourceText) string {
	for _, passage := range text.Passages {
		if passage.Marked {
			return passage.Text
		}
	}
	return ""
}

func TestASourceIsShownToWhoMayReadIt(t *testing.T) {
	o := newAgency(t)
	made := o.bot()
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("part %d", i))
	}
	passages := o.putMany("long", "group:legal user:ann@example.com", texts...)
	ann := chat.Reader{Adapter: "web", User: "1", Identity: &chat.Identity{Email: "ann@example.com"}}
	bob := chat.Reader{Adapter: "web", User: "2", Identity: &chat.Identity{Email: "bob@example.com"}}
	for name, test := range map[string]struct {
		passage         string
		marked, first   string
		earlier, later  bool
		changed, absent bool
		by              chat.Reader
	}{
		"in the middle":                   {passage: passages[50].Reference(), marked: "part 50", first: "part 38", earlier: true, later: true, by: ann},
		"at the beginning":                {passage: passages[0].Reference(), marked: "part 0", first: "part 0", later: true, by: ann},
		"at the end":                      {passage: passages[99].Reference(), marked: "part 99", first: "part 87", earlier: true, by: ann},
		"nothing in particular":           {first: "part 0", later: true, by: ann},
		"moved nearby":                    {passage: "48" + passages[50].Reference()[2:], marked: "part 50", first: "part 38", earlier: true, later: true, by: ann},
		"moved far away":                  {passage: "5" + passages[50].Reference()[2:], marked: "part 50", first: "part 38", earlier: true, later: true, by: ann},
		"moved from behind the end":       {passage: "5000" + passages[50].Reference()[2:], marked: "part 50", first: "part 38", earlier: true, later: true, by: ann},
		"changed":                         {passage: "50-ffffffffffff", marked: "part 50", first: "part 38", earlier: true, later: true, changed: true, by: ann},
		"changed and shorter":             {passage: "500-ffffffffffff", marked: "part 99", first: "part 87", earlier: true, changed: true, by: ann},
		"no reference":                    {passage: "x", absent: true, by: ann},
		"somebody else":                   {passage: passages[50].Reference(), absent: true, by: bob},
		"nobody in particular":            {passage: passages[50].Reference(), absent: true, by: chat.Reader{Adapter: "web", User: "3", Identity: &chat.Identity{}}},
		"a platform that knows somebody":  {passage: passages[50].Reference(), marked: "part 50", first: "part 38", earlier: true, later: true, by: chat.Reader{Adapter: "platform", User: "ann"}},
		"a platform that tells of nobody": {passage: passages[50].Reference(), absent: true, by: chat.Reader{Adapter: "elsewhere", User: "ann"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := made.ReadSource(t.Context(), chat.SourceRef{Document: "long", Passage: test.passage}, test.by)
			if test.absent {
				if !errors.Is(err, chat.ErrUnknownSource) || len(text.Passages) > 0 || text.Source.Title != "" {
					t.Errorf("got %+v, %v, want nothing", text, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if marked(text) != test.marked || text.Passages[0].Text != test.first || text.Changed != test.changed ||
				(text.Earlier != "") != test.earlier || (text.Later != "") != test.later {
				t.Errorf("marked %q, from %q on, changed %v, earlier %q, later %q", marked(text), text.Passages[0].Text, text.Changed, text.Earlier, text.Later)
			}
			if text.Audience != "group:legal, user:ann@example.com" || text.AllowedBy != "user:ann@example.com" {
				t.Errorf("for %q, allowed by %q", text.Audience, text.AllowedBy)
			}
		})
	}
	// Who goes on reads every passage.
	read := make(map[string]bool)
	for next, rounds := "", 0; rounds < 100; rounds++ {
		text, err := made.ReadSource(t.Context(), chat.SourceRef{Document: "long", Passage: next}, ann)
		if err != nil {
			t.Fatal(err)
		}
		for _, passage := range text.Passages {
			read[passage.Text] = true
		}
		if next = text.Later; next == "" {
			break
		}
	}
	if len(read) != len(texts) {
		t.Errorf("%d passages read, want %d", len(read), len(texts))
	}
}

func TestCitationsHaveAddressesWherePeopleMayOpenThem(t *testing.T) {
	const base = "https://cairn.example.com"
	ref := chat.SourceRef{Document: "a/b.md", Passage: "3-9f86d081884c"}
	for _, test := range []struct {
		viewer   bot.Viewer
		audience knowledge.Audience
		want     string
	}{
		{bot.Viewer{}, knowledge.PublicAudience, ""},
		{bot.Viewer{URL: base}, knowledge.PublicAudience, base + "/source/YS9iLm1k/3-9f86d081884c"},
		{bot.Viewer{URL: base}, "group:legal", ""},
		{bot.Viewer{URL: base, Restricted: true}, "group:legal", base + "/source/YS9iLm1k/3-9f86d081884c"},
	} {
		if got := test.viewer.Address(ref, test.audience); got != test.want {
			t.Errorf("%+v for %s gives %q, want %q", test.viewer, test.audience, got, test.want)
		}
	}
}

// TestCitedDocumentsThatChangedAreMarked checks that an answer tells of documents that changed at
// their source since they were read.
func TestCitedDocumentsThatChangedAreMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newAgency(t)
		o.check = func(_ context.Context, documents []knowledge.Document) map[knowledge.DocumentID]knowledge.State {
			states := make(map[knowledge.DocumentID]knowledge.State)
			for _, document := range documents {
				states[document.ID] = knowledge.StateChanged
			}
			return states
		}
		o.put("other", "salary: thirteen", "")
		defer o.works(newFate(0, false))()
		room := o.front("platform", "1")
		room.tell("salary")
		room.quiet()
		cited := 0
		for _, posted := range o.platform.Posted(room.thread) {
			for _, group := range posted.Post.Reply.Sources {
				for _, source := range group.Sources {
					if cited++; source.State != "changed" {
						t.Errorf("%s is shown as %q", source.Document, source.State)
					}
				}
			}
		}
		if cited == 0 {
			t.Error("nothing was cited")
		}
	})
}
