package bot_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/bot"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

func TestDocumentNames(t *testing.T) {
	for name, want := range map[string]string{
		"risks_analysis.md":              "risks_analysis.md",
		"../../etc/passwd":               "passwd",
		`C:\Users\ann\notes.md`:          "notes.md",
		"notes.md/":                      "document",
		"":                               "document",
		".md":                            "document.md",
		"..":                             "document",
		".profile":                       "document.profile",
		"what? a \"plan\".md":            "what_ a _plan_.md",
		"a\x00b\n\u202Egpj.md":           "abgpj.md",
		"\xff.md":                        "_.md",
		"plan.md. ":                      "plan.md",
		"Архитектура.md":                 "Архитектура.md",
		strings.Repeat("x", 200) + ".md": strings.Repeat("x", 77) + ".md",
		"a." + strings.Repeat("y", 200):  "a." + strings.Repeat("y", 78),
	} {
		if got := bot.DocumentName(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}

func FuzzDocumentName(f *testing.F) {
	for _, seed := range []string{"risks.md", "../a/b.md", ".md", "a. .md", "\xff\u202E.md", strings.Repeat("x.", 80)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := bot.DocumentName(name)
		bad := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|`, r) }
		if got == "" || strings.HasPrefix(got, ".") || strings.HasSuffix(got, ".") || !utf8.ValidString(got) ||
			utf8.RuneCountInString(got) > 80 || strings.ContainsFunc(got, bad) {
			t.Errorf("%q is called %q", name, got)
		}
	})
}

// TestOnlySoManyDocumentsGoWithAReply has a flow make more, and larger ones, than go.
func TestOnlySoManyDocumentsGoWithAReply(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	j.files = func(string) []flows.File {
		large := flows.File{Name: "all/large.md", Content: make([]byte, chat.MaxDocument+1)}
		files := []flows.File{large, {Name: "empty.md"}}
		for range chat.MaxDocuments + 2 {
			files = append(files, flows.File{Name: "a.md", MediaType: "text/markdown", Content: make([]byte, chat.MaxDocument)})
		}
		return files
	}
	reply := o.begin(t.Context(), "go").reply(t)
	const note = "Larger than 512 KB, and left out: large.md. Only 4 documents go with an answer; 2 more were left out."
	if len(reply.Documents) != chat.MaxDocuments || reply.Note != note {
		t.Errorf("%d documents, note %q", len(reply.Documents), reply.Note)
	}
	for _, document := range reply.Documents {
		if document.Name != "a.md" || document.Size != chat.MaxDocument || len(document.Content) != chat.MaxDocument {
			t.Errorf("%s of %d bytes, %d are there", document.Name, document.Size, len(document.Content))
		}
	}
}

// TestTheLatestDocumentsAreKept fills a transcript with more documents than it keeps.
func TestTheLatestDocumentsAreKept(t *testing.T) {
	o, j := works(t)
	j.succeeds()
	j.files = func(string) []flows.File {
		return []flows.File{{Name: "a.md", Content: make([]byte, chat.MaxDocument)}}
	}
	const replies = chat.MaxDocuments + 1
	for range replies {
		o.begin(t.Context(), "go").reply(t)
	}
	turns, err := o.bot.Transcript(t.Context(), o.next("").Thread)
	if err != nil {
		t.Fatal(err)
	}
	var kept []bool
	for _, turn := range turns {
		if turn.Reply != nil {
			kept = append(kept, turn.Reply.Documents[0].Kept())
		}
	}
	if len(kept) != replies || kept[0] || !kept[1] || !kept[replies-1] {
		t.Errorf("kept are %v", kept)
	}
}

// TestWhereADocumentIsKept has a document made, and made anew since the message was
// edited: the platform has it once it was posted, the transcript where nothing is posted.
func TestWhereADocumentIsKept(t *testing.T) {
	const old, made = "did write this + notes.md, text/markdown, 12 bytes: # write this", "did write that + notes.md, text/markdown, 12 bytes: # write that"
	for thread, want := range map[chat.ThreadID][2][]string{
		"platform:1": {
			{"m1: reply " + strings.Replace(old, "# write this", "not kept", 1), "posted " + old},
			{"m1: reply " + strings.Replace(made, "# write that", "not kept", 1), "posted " + made},
		},
		"test:1": {{"m1: reply " + old}, {"m1: reply " + made}},
	} {
		t.Run(thread.Adapter(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreet(t, writes(t))
				edited := story{then: func(f *front) { f.say("write this") }}
				s.sees(s.live(edited, thread, newFate(0, false)), want[0])
				edited.then = func(f *front) { f.edit("m1", "write that") }
				s.sees(s.live(edited, thread, newFate(0, false)), want[1])
			})
		})
	}
}

// sees looks at the replies and posts among what is seen.
func (s *street) sees(seen string, want []string) {
	s.t.Helper()
	var got []string
	for line := range strings.Lines(seen) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "posted ") || strings.Contains(line, ": reply ") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("it is seen:\n%s\n\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTheLargestDocumentsArePosted posts more than the outbox could hold.
func TestTheLargestDocumentsArePosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(t)
		j.succeeds()
		j.files = func(string) []flows.File {
			return slices.Repeat([]flows.File{{Name: "a.md", Content: make([]byte, chat.MaxDocument)}}, chat.MaxDocuments)
		}
		s := newStreet(t, j)
		defer s.works(newFate(0, false))()
		f := s.front("platform", "1")
		f.say("go")
		f.quiet()
		posted := s.platform.Documents(f.thread)
		if len(posted) != chat.MaxDocuments || slices.ContainsFunc(posted, func(d chat.Document) bool { return len(d.Content) != chat.MaxDocument }) {
			t.Errorf("%d documents are posted", len(posted))
		}
	})
}
