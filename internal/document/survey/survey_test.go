package survey_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/document/survey"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
)

type note struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

type notes struct {
	Notes []note `json:"notes"`
}

type part struct {
	Title      string `json:"title"`
	Statements []note `json:"statements"`
}

type parts struct {
	Parts []part `json:"parts"`
}

// modelOf speaks to the scripted server over the wire.
func modelOf(t testing.TB, server *llmtest.Server, tokens int) llm.Model {
	t.Helper()
	model, err := openai.New(openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Context: tokens, MaxReply: 600,
		Gate: gate.Options{Retries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// read makes a set of texts by their names.
func read(t testing.TB, texts ...string) document.Set {
	t.Helper()
	var files []flows.Attachment
	for i := 0; i < len(texts); i += 2 {
		files = append(files, flows.Attachment{Name: texts[i], Text: texts[i+1]})
	}
	set, err := document.NewReader(document.Options{}).Read(t.Context(), document.Read{Attachments: files})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var (
	isRead    = llmtest.System("You read a part")
	isCombine = llmtest.System("from the team's own documents")
	shown     = regexp.MustCompile(`(?s)<source n="(\d+)">\n([^\n]*)\n\n(.*?)\n</source>`)
	fact      = regexp.MustCompile(`Fact \d+ is \w+\.`)
)

// facts gives the sentences "Fact 1 is x." of a prompt, each with the number of its source.
func facts(r llmtest.Request) []note {
	var found []note
	for _, source := range shown.FindAllStringSubmatch(r.User(), -1) {
		number := 0
		if _, err := fmt.Sscan(source[1], &number); err != nil {
			panic(err)
		}
		for _, text := range fact.FindAllString(source[3], -1) {
			found = append(found, note{text, []int{number}})
		}
	}
	return found
}

// manual is a document with n facts, each in a section with text around it.
func manual(n, words int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "## Section %d\n\nFact %d is v%d. %s\n\n", i, i, i, strings.Repeat("Filler goes on here. ", words))
	}
	return b.String()
}

func surveyed(t testing.TB, s *survey.Surveyor, set document.Set, task survey.Task) (made survey.Result, said []string) {
	t.Helper()
	task.Run, task.Goal = "run", survey.Analysis
	made, err := s.Survey(t.Context(), set, task, func(text string) { said = append(said, text) })
	if err != nil {
		t.Fatal(err)
	}
	return made, said
}

func TestWhatFitsIsReadAtOnce(t *testing.T) {
	server := llmtest.New(t)
	server.On(isCombine, llmtest.Value(parts{[]part{{"Risks", []note{
		{"The ledger has no fallback.", []int{1}},
		{"The ledger has no fallback at all, says nobody.", []int{99}},
		{"Uncited.", []int{}},
		{"Bananas are sold in Lisbon on Sundays.", []int{1}},
		{"The ledger has no fallback for 90 days.", []int{1}},
		{"The ledger `pay.ledger` has no fallback.", []int{1}},
	}}, {"Empty", []note{}}, {"Risks", []note{{"Refunds take 14 days.", []int{2, 1}}}}}}))
	set := read(t, "a.md", "# Ledger\n\nThe ledger has no fallback.", "b.md", "# Refunds\n\nRefunds take 14 days.")
	made, said := surveyed(t, survey.New(modelOf(t, server, 8000), nil), set, survey.Task{Query: "risks?", Feedback: []string{"shorter"}})
	if len(made.Parts) != 1 || len(made.Parts[0].Statements) != 2 {
		t.Fatalf("%+v", made)
	}
	if places := made.Parts[0].Statements[1].Places; len(places) != 2 || places[0] != (evidence.Place{Document: 1, Section: 0}) {
		t.Errorf("places %v", places)
	}
	if !strings.Contains(made.Note, "5 statements were left out") || len(made.Uses) != 1 || made.Uses[0].Role != "combine" || strings.Join(said, "|") != "Writing it down" {
		t.Errorf("%q, %+v, %q", made.Note, made.Uses, said)
	}
}

func TestWhatDoesNotFitIsReadInParts(t *testing.T) {
	server := llmtest.New(t)
	server.On(isRead, llmtest.By(func(r llmtest.Request) llmtest.Step { return llmtest.Value(notes{facts(r)}) }))
	server.On(isCombine, llmtest.By(func(r llmtest.Request) llmtest.Step {
		return llmtest.Value(parts{[]part{{"Facts", facts(r)}}})
	}))
	set := read(t, "manual.md", manual(20, 60), "more.md", "Fact 77 is here.")
	made, said := surveyed(t, survey.New(modelOf(t, server, 3000), nil), set, survey.Task{Query: "facts?"})
	if len(made.Parts) != 1 || len(made.Parts[0].Statements) != 21 {
		t.Fatalf("%+v", made)
	}
	for i, s := range made.Parts[0].Statements[:20] {
		if s.Text != fmt.Sprintf("Fact %d is v%d.", i, i) || s.Places[0] != (evidence.Place{Document: 0, Section: i}) {
			t.Errorf("statement %d: %+v", i, s)
		}
	}
	reads := len(made.Uses) - 1
	if reads < 3 || len(said) != reads+1 || said[reads-1] != fmt.Sprintf("Read %d of %d parts", reads, reads) {
		t.Errorf("%d reads, said %q", reads, said)
	}
}

func TestAFailedPartIsSaidToBeMissing(t *testing.T) {
	server := llmtest.New(t)
	server.On(func(r llmtest.Request) bool { return isRead(r) && strings.Contains(r.User(), "Fact 0 ") }, llmtest.Refusal("no"))
	server.On(isRead, llmtest.By(func(r llmtest.Request) llmtest.Step { return llmtest.Value(notes{facts(r)}) }))
	server.On(isCombine, llmtest.By(func(r llmtest.Request) llmtest.Step { return llmtest.Value(parts{[]part{{"Facts", facts(r)}}}) }))
	made, _ := surveyed(t, survey.New(modelOf(t, server, 3000), nil), read(t, "manual.md", manual(20, 60)), survey.Task{Query: "facts?"})
	if !strings.Contains(made.Note, "1 part of the documents could not be read") || len(made.Parts) != 1 {
		t.Errorf("%q, %+v", made.Note, made.Parts)
	}
}

func TestAModelThatFails(t *testing.T) {
	short, long := read(t, "a.md", "Fact 1 is x."), read(t, "manual.md", manual(20, 60))
	same := llmtest.By(func(r llmtest.Request) llmtest.Step {
		var told []note
		for i, source := range shown.FindAllStringSubmatch(r.User(), -1) {
			told = append(told, note{strings.Repeat(source[3]+" ", 3), []int{i + 1}})
		}
		return llmtest.Value(notes{told})
	})
	for name, test := range map[string]struct {
		set    document.Set
		tokens int
		match  llmtest.Match
		step   llmtest.Step
		want   string
	}{
		"down":               {short, 8000, llmtest.Any, llmtest.Fail(500, "server_error", "down"), "the language model can't be reached"},
		"refuses":            {short, 8000, llmtest.Any, llmtest.Refusal("no"), "declined to answer"},
		"makes it up":        {short, 8000, isCombine, llmtest.Value(parts{[]part{{"X", []note{{"Lisbon sells bananas.", []int{1}}}}}}), "is not in the sources"},
		"down while reading": {long, 3000, llmtest.Any, llmtest.Fail(500, "server_error", "down"), "the language model can't be reached"},
		"notes nothing":      {long, 3000, isRead, llmtest.Value(notes{[]note{}}), "gave no answer"},
		"notes everything":   {long, 3000, isRead, same, "did not fit"},
		"small context":      {short, 1500, llmtest.Any, llmtest.Refusal("not reached"), "did not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.New(t)
			server.On(test.match, test.step)
			made, _ := surveyed(t, survey.New(modelOf(t, server, test.tokens), nil), test.set, survey.Task{Query: "facts?"})
			if made.Parts != nil || !strings.Contains(made.Note, test.want) {
				t.Errorf("%q, %+v; want %s", made.Note, made.Parts, test.want)
			}
		})
	}
}

func TestADraftThatFindsNoRoomIsLeftOut(t *testing.T) {
	server := llmtest.New(t)
	server.On(isCombine, llmtest.By(func(r llmtest.Request) llmtest.Step { return llmtest.Value(parts{[]part{{"Facts", facts(r)}}}) }))
	var draft evidence.Part
	for i := range 100 {
		draft.Statements = append(draft.Statements, evidence.Statement{Text: fmt.Sprintf("Old statement %d, which takes some room in the prompt.", i)})
	}
	set := read(t, "a.md", "Fact 1 is x.")
	for tokens, shown := range map[int]bool{2000: false, 8000: true} {
		made, _ := surveyed(t, survey.New(modelOf(t, server, tokens), nil), set, survey.Task{Query: "facts?", Draft: []evidence.Part{draft}})
		requests := server.Requests()
		if has := strings.Contains(requests[len(requests)-1].User(), "Old statement 7,"); has != shown || len(made.Parts) != 1 {
			t.Errorf("with %d tokens the draft is shown: %v; %+v", tokens, has, made)
		}
	}
}

func TestFixedTitlesAreKept(t *testing.T) {
	server := llmtest.New(t)
	server.On(isCombine, llmtest.Value(parts{[]part{{"purpose", []note{{"Fact 1 is x.", []int{1}}}}, {"Made up", []note{{"Fact 1 is x.", []int{1}}}}}}))
	made, _ := surveyed(t, survey.New(modelOf(t, server, 8000), nil), read(t, "a.md", "Fact 1 is x."), survey.Task{Query: "X", Titles: []string{"Purpose", "Decisions"}})
	if len(made.Parts) != 2 || made.Parts[0].Title != "Purpose" || len(made.Parts[0].Statements) != 1 || len(made.Parts[1].Statements) != 0 {
		t.Errorf("%+v", made.Parts)
	}
}

type verdict struct {
	Statement int    `json:"statement"`
	Support   string `json:"support"`
}

type verdicts struct {
	Verdicts []verdict `json:"verdicts"`
}

// TestAModelVerifiesTheReport has a model find one statement supported, one in part, and one not at
// all; a number that its source lacks is left out without being asked about. It is told in German.
func TestAModelVerifiesTheReport(t *testing.T) {
	server := llmtest.New(t)
	server.On(isCombine, llmtest.Value(parts{[]part{{"Risiken", []note{
		{"Der Ledger hat keinen Ersatz.", []int{1}}, {"Der Ledger hat nie einen Ersatz.", []int{1}},
		{"Der Ledger hat einen Ersatz.", []int{1}}, {"Der Ledger hat 90 Tage keinen Ersatz.", []int{1}},
	}}}}))
	server.On(llmtest.Schema("verify"), llmtest.Value(verdicts{[]verdict{{1, "full"}, {2, "none"}, {3, "partial"}, {4, "none"}}}))
	model := modelOf(t, server, 8000)
	made, _ := surveyed(t, survey.New(model, model), read(t, "a.md", "# Ledger\n\nDer Ledger hat keinen Ersatz."), survey.Task{Query: "Risiken?", Language: language.German})
	if len(made.Parts) != 1 || len(made.Parts[0].Statements) != 2 || made.Parts[0].Statements[0].Partly || !made.Parts[0].Statements[1].Partly {
		t.Fatalf("%+v", made)
	}
	want := "Von einem Sprachmodell aus den Dokumenten geschrieben; jede Aussage wurde mit ihrer Quelle verglichen. " +
		"2 Aussagen wurden weggelassen, weil die Dokumente sie nicht stützen. 1 Aussage steht nur zum Teil in ihrer Quelle; sie ist markiert."
	if made.Note != want {
		t.Errorf("the note is %q", made.Note)
	}
	if asked := server.Requests()[1].User(); strings.Contains(asked, "90 Tage") {
		t.Errorf("the model is asked about a number that no source has: %s", asked)
	}
}

func TestTheEndOfTheContextIsAnError(t *testing.T) {
	server := llmtest.New(t)
	server.Tolerate()
	ctx, cancel := context.WithCancel(t.Context())
	server.On(isRead, llmtest.By(func(llmtest.Request) llmtest.Step { cancel(); return llmtest.Hang() }))
	_, err := survey.New(modelOf(t, server, 3000), nil).Survey(ctx, read(t, "manual.md", manual(20, 60)), survey.Task{Goal: survey.Analysis, Query: "x"}, func(string) {})
	if ctx.Err() == nil || err == nil {
		t.Errorf("Survey = %v", err)
	}
}
