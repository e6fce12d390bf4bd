package quoting_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/quoting"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// asked makes a question whose words are all as rare.
func asked(text, intent string) quoting.Question {
	q := quoting.Question{Text: text, Intent: intent}
	for _, term := range lexical.Analyze(text) {
		if !lexical.IsFiller(term) {
			q.Profile.Terms = append(q.Profile.Terms, support.Term{Text: term, IDF: 1})
		}
	}
	return q
}

var wide = quoting.Size{Passages: 8, Characters: 2000, Floor: 0.3}

// texts gives what is quoted, a line a quote.
func texts(quotes []quoting.Quote) string {
	var all []string
	for _, q := range quotes {
		all = append(all, q.Text)
	}
	return strings.Join(all, "\n")
}

func TestWholesAreQuotedWhole(t *testing.T) {
	for _, test := range []struct{ name, question, intent, text, want string }{
		{
			"a list with what announces it", "how do I rotate the signing key", "how-to",
			"Rotate the signing key in three steps:\n\n1. Stop the signer.\n2. Run `rotate`.\n3. Start the signer.\n\nLunch is at noon.",
			"Rotate the signing key in three steps:\n1. Stop the signer.\n2. Run `rotate`.\n3. Start the signer.",
		},
		{
			"code with the sentence in front of it", "how do I list the signing keys", "how-to",
			"To list the signing keys, ask the signer.\n\n```sh\nsigner keys\n```",
			"To list the signing keys, ask the signer.\n```sh\nsigner keys\n```",
		},
		{
			"a table", "which ports does the signer use", "lookup",
			"| Port of the signer | Use |\n| --- | --- |\n| 8080 | keys |\n| 9090 | metrics |",
			"| Port of the signer | Use |\n| --- | --- |\n| 8080 | keys |\n| 9090 | metrics |",
		},
		{
			"a sentence that leans on the one before", "why is the signer slow when it signs large archives", "troubleshooting",
			"The signer reads archives twice. This makes the signer slow when it signs large archives.",
			"The signer reads archives twice.\nThis makes the signer slow when it signs large archives.",
		},
		{
			"a sentence that goes on from the one before", "why is the signer slow when it signs large archives", "troubleshooting",
			"The signer reads archives twice. So the signer is slow when it signs large archives.",
			"The signer reads archives twice.\nSo the signer is slow when it signs large archives.",
		},
		{
			"a question with its answer", "how many archives does the signer read", "lookup",
			"How many archives does the signer read? It reads two.",
			"How many archives does the signer read?\nIt reads two.",
		},
		{
			"a question in front of code", "why is the signer slow behind a proxy", "troubleshooting",
			"Maybe the signer is behind a slow proxy? Try the flag:\n\n```sh\nsigner --direct\n```",
			"Maybe the signer is behind a slow proxy?\nTry the flag:\n```sh\nsigner --direct\n```",
		},
		{
			"steps that go on behind a paragraph and code", "how do I rotate the signing key", "how-to",
			"Rotate the signing key in steps:\n\n1. Stop the signer.\n\nThe signer ends what it signs.\n\n2. Run:\n\n```sh\nrotate\n```\n\nIt says Rotated.\n\n3. Start the signer.\n\nLunch is at noon.",
			"Rotate the signing key in steps:\n1. Stop the signer.\nThe signer ends what it signs.\n2. Run:\n```sh\nrotate\n```\nIt says Rotated.\n3. Start the signer.",
		},
		{
			"a line behind what announces it", "which states does the signer have", "lookup",
			"The signer has states, in this order:\nWaiting, signing, done.\n\nLunch is at noon.",
			"The signer has states, in this order:\nWaiting, signing, done.",
		},
		{
			"what announces the line that answers", "when is the signer waiting and signing", "lookup",
			"There is an order:\nThe signer is waiting and signing.\n\nLunch is at noon.",
			"There is an order:\nThe signer is waiting and signing.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := texts(quoting.Choose(asked(test.question, test.intent), []quoting.Passage{{Title: "Signer", Text: test.text, Score: 1}}, wide))
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("quotes\n%s\nand not\n%s", got, test.want)
			}
		})
	}
}

func TestWhatStatesNothingIsNotQuoted(t *testing.T) {
	for _, test := range []struct{ name, text, not string }{
		{"the text of a picture", "signer window\n\nThe signer shows its keys in a window.\n\nsigner window", "signer window"},
		{"a table of contents", "The signer shows its keys in a window.\n\n- [Signer keys](#keys)\n- [Signer window](#window)", "Signer keys"},
		{"a question that nothing answers", "The signer shows its keys in a window.\n\nIn which window does the signer show keys?", "In which"},
		{"what announces a picture", "The signer window looks like this:\n\nsigner window\n\nThe signer shows its keys in a window.", "looks like this"},
		{"a sentence that leans on code", "Begin:\n\n```sh\nbegin\n```\n\nIt shows the keys of the signer in a window.\n\nA signer has keys and shows them.", "It shows"},
		{"a sentence that leans on a long one", "Archives, " + strings.Repeat("old and new, ", 12) + "come at night. It shows the signer in a window.", "It shows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			small := quoting.Size{Passages: 1, Characters: 60, Floor: 0.3}
			got := texts(quoting.Choose(asked("where does the signer show keys in a window", "lookup"), []quoting.Passage{{Title: "Signer", Text: test.text, Score: 1}}, small))
			if strings.Contains(got, test.not) {
				t.Errorf("quotes\n%s", got)
			}
		})
	}
}

// TestADefinitionComesFirst checks that the section which defines a term goes before those
// that search ranks above it.
func TestADefinitionComesFirst(t *testing.T) {
	passages := []quoting.Passage{
		{Document: "a", Title: "Operations", Headings: []string{"Signer, restart of the"}, Text: "Restart the signer with `restart signer` when the signer is slow.", Score: 1},
		{Document: "b", Title: "Glossary", Headings: []string{"Glossary", "Signer (Signing server)"}, Text: "A [signer](https://example.com) is the server that signs archives.", Score: 0.2},
	}
	for question, first := range map[string]int{"what is a signer?": 1, "whats the signer": 1, "restart signer": 0} {
		got := quoting.Choose(asked(question, "lookup"), passages, quoting.Size{Passages: 8, Characters: 300, Floor: 0.3})
		if len(got) == 0 || got[0].Passage != first {
			t.Errorf("%s: quotes\n%s", question, texts(got))
		}
	}
}

// TestAnEntryOfAGlossaryComesFirst has a glossary as a table, and as a list: its entry of the term
// goes before passages that mention it, however far down it stands.
func TestAnEntryOfAGlossaryComesFirst(t *testing.T) {
	mentions := quoting.Passage{Document: "a", Title: "Operations", Headings: []string{"Restarts"}, Text: "Restart the signer when it is slow. A slow signer delays archives.", Score: 1}
	for name, text := range map[string]string{
		"table": "| term | meaning |\n| --- | --- |\n| archive | What is kept. |\n| vault | Where keys are. |\n| lock | What holds a job. |\n| queue | What waits. |\n| signer | The server that signs archives. |\n",
		"list":  "- archive: what is kept.\n- vault: where keys are.\n- lock: what holds a job.\n- queue: what waits.\n- signer: the server that signs archives.\n",
	} {
		glossary := quoting.Passage{Document: "b", Title: "Words", Headings: []string{"Words", "Parts"}, Text: text, Score: 0.2}
		got := quoting.Choose(asked("what is a signer?", "definition"), []quoting.Passage{mentions, glossary}, quoting.Size{Passages: 8, Characters: 300, Floor: 0.3})
		if len(got) == 0 || got[0].Passage != 1 || !strings.Contains(texts(got), "that signs archives") {
			t.Errorf("%s: quotes\n%s", name, texts(got))
		}
		for _, other := range []string{"what waits", "What waits", "delays archives"} {
			if strings.Contains(texts(got), other) {
				t.Errorf("%s: beside the entry it quotes %q:\n%s", name, other, texts(got))
			}
		}
	}
}

func TestRowsShareTheirHeader(t *testing.T) {
	table := "| Variable of the signer | Use |\n| --- | --- |\n"
	for _, name := range []string{"PORT", "HOST", "MODE"} {
		table += "| `SIGNER_" + name + "` | variable of the signer, " + strings.Repeat("long ", 45) + "|\n"
	}
	got := texts(quoting.Choose(asked("variables of the signer", "list"), []quoting.Passage{{Title: "Signer", Text: table, Score: 1}}, quoting.Size{Passages: 8, Characters: 900, Floor: 0.3}))
	if strings.Count(got, "---") != 2 || strings.Count(got, "SIGNER_") < 3 {
		t.Errorf("quotes\n%s", got)
	}
}

func TestLongCodeIsCutToTheLinesAskedFor(t *testing.T) {
	options := "```\n" + strings.Repeat("      --other string   does something else\n", 40) + "      --drain          waits until the queue is empty\n```"
	got := texts(quoting.Choose(asked("flag to drain the queue", "lookup"), []quoting.Passage{{Title: "Options", Text: options, Score: 1}}, wide))
	want := "```\n      --drain          waits until the queue is empty\n```"
	if got != want {
		t.Errorf("quotes\n%s", got)
	}
}

func TestBothHalvesOfADoubleQuestion(t *testing.T) {
	q := asked("how long are backups kept and who restores databases", "lookup")
	q.Parts = []support.Profile{{Terms: q.Profile.Terms[1:3]}, {Terms: q.Profile.Terms[3:]}}
	passages := []quoting.Passage{
		{Document: "a", Title: "Backups", Text: "Backups are kept for 30 days. Backups run at night. Backups are kept in two places, and all backups are encrypted.", Score: 1},
		{Document: "b", Title: "Databases", Text: "The storage team restores databases.", Score: 0.6},
	}
	got := texts(quoting.Choose(q, passages, quoting.Size{Passages: 8, Characters: 120, Floor: 0.3}))
	if !strings.Contains(got, "30 days") || !strings.Contains(got, "storage team") {
		t.Errorf("quotes\n%s", got)
	}
}

// TestASideOfAComparisonIsQuotedFromItsOwnSection has a first passage that names both sides.
func TestASideOfAComparisonIsQuotedFromItsOwnSection(t *testing.T) {
	q := asked("pulling archives vs pushing archives, does the signer run in both", "comparison")
	q.Parts = []support.Profile{{Terms: q.Profile.Terms[:1]}, {Terms: q.Profile.Terms[2:3]}}
	passages := []quoting.Passage{
		{Document: "a", Title: "Pushing", Text: "Unlike pulling archives, pushing archives runs the signer.", Score: 1},
		{Document: "b", Title: "Pulling", Text: "- Nobody waits.\n- Keys stay where they are.", Score: 0.5},
	}
	got := texts(quoting.Choose(q, passages, quoting.Size{Passages: 8, Characters: 300, Floor: 0.3, Chance: 0.9}))
	if !strings.Contains(got, "Unlike pulling") || !strings.Contains(got, "Nobody waits") {
		t.Errorf("quotes\n%s", got)
	}
}

// TestAListThatIsAskedForIsQuotedWhole has a table that is cut for other questions.
func TestAListThatIsAskedForIsQuotedWhole(t *testing.T) {
	table := "| State of the signer | Meaning |\n| --- | --- |\n"
	for range 10 {
		table += "| state | the signer is in this state " + strings.Repeat("long ", 10) + "|\n"
	}
	size := quoting.Size{Passages: 8, Characters: 700, Floor: 0.3}
	for intent, whole := range map[string]bool{"list": true, "lookup": false} {
		got := texts(quoting.Choose(asked("states of the signer", intent), []quoting.Passage{{Title: "Signer", Text: table, Score: 1}}, size))
		if all := strings.Count(got, "long |") == 10; all != whole {
			t.Errorf("%s: quotes\n%s", intent, got)
		}
	}
}

func TestSizeBoundsWhatIsQuoted(t *testing.T) {
	passage := quoting.Passage{Title: "Keys", Text: strings.Repeat("The signing key number one is kept in the vault of the house. ", 3) + "Signing keys expire. A signing key has an owner. No signing key is shared.", Score: 1}
	got := quoting.Choose(asked("where is the signing key", "lookup"), []quoting.Passage{passage}, quoting.Size{Passages: 1, Characters: 100, Floor: 0.3})
	if text := texts(got); len(text) > 125 || len(got) == 0 {
		t.Errorf("%d characters: %s", len(text), text)
	}
}

// FuzzChoose checks that nothing is quoted that a passage does not hold, nothing twice,
// and nothing announced that does not follow.
func FuzzChoose(f *testing.F) {
	f.Add("how do I rotate keys", "Rotate:\n\n- one\n  - two\n- three\n\n```sh\nrotate\n```\n\n| a | b |\n| --- | --- |\n| c | d |", 300)
	f.Add("keys", "For example:", 10)
	f.Add("what is x", "```\nopen", 900)
	f.Add("what is x", "| x |\n| x |\n1. x:\n\n~~~\nx\n~~~\n2. x", 50)
	f.Fuzz(func(t *testing.T, question, text string, characters int) {
		if len(text) > 5000 {
			return
		}
		passages := []quoting.Passage{{Document: "a", Title: "A", Text: text, Score: 1}, {Document: "b", Title: "B", Text: "Keys are rotated.", Score: 0.9}}
		known := make(map[[2]int]bool)
		quotes := quoting.Choose(asked(question, "how-to"), passages, quoting.Size{Passages: 8, Characters: characters, Floor: 0.2})
		for i, q := range quotes {
			at := [2]int{q.Passage, q.Position}
			if known[at] {
				t.Errorf("%q is quoted twice", q.Text)
			}
			known[at] = true
			for line := range strings.Lines(q.Text) {
				if !strings.Contains(strings.Join(strings.Fields(passages[q.Passage].Text), " "), strings.Join(strings.Fields(line), " ")) {
					t.Errorf("%q does not stand in the passage", line)
				}
			}
			if !q.Block && strings.HasSuffix(q.Text, ":") && (i+1 == len(quotes) || quotes[i+1].Passage != q.Passage || !quotes[i+1].Block) {
				t.Errorf("%q announces nothing", q.Text)
			}
		}
	})
}

// TestFitFindsWhatTellsFactsFromTheRest fits on questions whose answers are in code marks.
func TestFitFindsWhatTellsFactsFromTheRest(t *testing.T) {
	var examples []quoting.Example
	for range 20 {
		examples = append(examples, quoting.Example{
			Question: asked("which port does the signer use", "lookup"),
			Passages: []quoting.Passage{{Title: "Signer", Text: "The signer signs. It listens on port `8080`. It is old. It is small.", Score: 1}},
			Size:     wide,
			Gold:     []bool{true},
			Half:     len(examples) % 2,
			Stated:   func(text string) []bool { return []bool{strings.Contains(text, "8080")} },
		})
	}
	file, err := quoting.Fit(examples)
	if err != nil {
		t.Fatal(err)
	}
	var weights map[string]float64
	if err := json.Unmarshal(file, &weights); err != nil {
		t.Fatal(err)
	}
	if weights["has_code"] <= 0 || weights["coverage"] <= 0 || weights["always"] >= 0 {
		t.Errorf("weights %v", weights)
	}
	if _, err := quoting.Fit(nil); err == nil {
		t.Error("weights of nothing")
	}
	estimates, err := quoting.EstimateHeldOut(examples)
	if err != nil || len(estimates) != 1 || estimates[0].Questions != 20 || estimates[0].Facts != 1 || estimates[0].Lead != 1 {
		t.Errorf("estimates %+v, %v", estimates, err)
	}
	if _, err := quoting.EstimateHeldOut(examples[:1]); err == nil {
		t.Error("an estimate without anything to fit on")
	}
}

// TestAShortListIsQuotedForItsEntriesTogether has a list whose entries hold nothing of the question.
func TestAShortListIsQuotedForItsEntriesTogether(t *testing.T) {
	passage := quoting.Passage{Title: "Small signer", Headings: []string{"Small signer", "Introduction"}, Score: 1,
		Text: "The small signer is a signer without a window.\n\nThese are missing:\n\n- roles\n- mail\n- badges\n- sounds\n"}
	got := texts(quoting.Choose(asked("what do we lose with the small signer", "lookup"), []quoting.Passage{passage}, quoting.Size{Passages: 8, Characters: 860, Floor: 0.4, Chance: 0.3}))
	if !strings.Contains(got, "- badges") {
		t.Errorf("quotes\n%s", got)
	}
}

// TestTheSentenceThatDefinesLeads has sentences in front of it that are as likely.
func TestTheSentenceThatDefinesLeads(t *testing.T) {
	passages := []quoting.Passage{
		{Document: "a", Title: "Archives", Text: "In this section, we will see how to define a `signed archive` with the command `sign` in one house and then how to use the `signed archive` with `open` elsewhere, with 12 keys of its own. A signed archive is a box.", Score: 1},
		{Document: "b", Title: "Boxes", Text: "Boxes are brown.", Score: 0.9},
	}
	got := texts(quoting.Choose(asked("what is a signed archive", "definition"), passages, wide))
	if !strings.HasPrefix(got, "A signed archive is a box.") {
		t.Errorf("quotes\n%s", got)
	}
}

// TestANameInCamelCaseIsDefined has a theme that is named like the program, and is found first.
func TestANameInCamelCaseIsDefined(t *testing.T) {
	passages := []quoting.Passage{
		{Document: "a", Title: "Themes", Headings: []string{"Themes", "mkbook"}, Text: "The default theme supports almost every feature of MkBook, of which there are 12.", Score: 1},
		{Document: "b", Title: "MkBook", Headings: []string{"MkBook"}, Text: "Books with Markdown.\n\nMkBook is a **fast** generator.", Score: 0.9},
	}
	if got := texts(quoting.Choose(asked("what is mkbook", "definition"), passages, wide)); !strings.Contains(strings.SplitN(got, "\nThe default", 2)[0], "generator") {
		t.Errorf("quotes\n%s", got)
	}
}

// TestTheRemedyIsQuotedFromTheSectionOfTheSymptom has other text between the two.
func TestTheRemedyIsQuotedFromTheSectionOfTheSymptom(t *testing.T) {
	passages := []quoting.Passage{
		{Document: "a", Title: "Problems", Headings: []string{"Problems", "The signer stops with error 12"}, Score: 1,
			Text: "The signer stops with error 12. People wrote to us in May. They were sad. The house was full. Upgrade the house."},
		{Document: "b", Title: "Errors", Text: "An error of the signer has a number.", Score: 0.9},
	}
	got := texts(quoting.Choose(asked("the signer stops with error 12", "troubleshooting"), passages, quoting.Size{Passages: 8, Characters: 95, Floor: 0.3}))
	if !strings.Contains(got, "Upgrade the house") {
		t.Errorf("quotes\n%s", got)
	}
}
