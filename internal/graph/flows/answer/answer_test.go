package answer_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/embed/local"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// page is a document of the handbook: its sections by heading.
type page struct {
	path, title string
	kind        knowledge.Kind
	sections    []section
}

type section struct{ heading, text string }

var handbook = []page{
	{"leave.md", "Leave", "", []section{
		{"Days of leave", "You have 28 days of leave a year. Part-time work reduces it in proportion."},
		{"Asking for leave", "Ask your lead two weeks ahead. Then enter the days in the calendar:\n\n- choose the team calendar\n- mark each day\n\nYour lead gets a message."},
	}},
	{"laptops.md", "Laptops", "", []section{
		{"Getting a laptop", "You get a laptop from the help desk in room 12. Bring your badge."},
		{"Returning a laptop", "Return your laptop on a Thursday. The help desk wipes it and gives you a receipt."},
	}},
	{"vpn.md", "VPN", "", []section{
		{"Reset the VPN password", "Open the self-service portal and choose Reset. The new password is valid for 90 days."},
		{"Business Requirements Document (BRD)", "A Business Requirements Document (BRD) says what a project must achieve. Its owner is the product lead."},
	}},
	{"tokens/ci.md", "Continuous integration", "", []section{
		{"Token for the pipeline", "The pipeline reads its token from the vault. Ask the platform team for a token."},
	}},
	{"tokens/chat.md", "Chat bot", "", []section{
		{"Token for the chat bot", "The chat bot needs a token from the chat workspace. An admin of the workspace creates the token."},
	}},
	{"tokens/api.md", "Public interface", knowledge.KindCode, []section{
		{"Token for the interface", "Each client of the interface sends a token in a header. Create a token in your profile."},
	}},
	{"queue.md", "Queue", "", []section{
		{"Retention of Redis messages", "Redis keeps messages for 7 days."},
		{"Retention of Kafka messages", "Kafka keeps messages for 30 days."},
	}},
	{"services/billing.md", "Billing", "", []section{
		{"Where it runs", "The billing service runs on the Heron cluster. Its invoices are kept for ten years."},
	}},
	{"clusters/heron.md", "Heron", "", []section{
		{"Restarting Heron", "Restart Heron with `heronctl restart --drain`. It takes four minutes."},
	}},
	{"clusters/magpie.md", "Magpie", "", []section{
		{"Restarting Magpie", "Restart Magpie from its console. The cluster comes back by itself, and the cluster's service runs on."},
	}},
}

// fixture is a flow over the handbook.
type fixture struct {
	flow     *answer.Flow
	index    *embedded.Index
	embedder *local.Embedder
}

func open(t testing.TB) *fixture {
	t.Helper()
	embedder, err := local.Load()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: embedder.Name(), Dimension: embedder.Dimension()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, p := range handbook {
		put(t, ix, embedder, p)
	}
	f := &fixture{index: ix, embedder: embedder}
	f.flow = f.with(t, answer.Options{})
	return f
}

// with makes a flow over the handbook with other options.
func (f *fixture) with(t testing.TB, options answer.Options) *answer.Flow {
	t.Helper()
	if options.Retriever == nil {
		options.Retriever = &retrieve.Retriever{Index: f.index, Embedder: f.embedder, Fusion: retrieve.DefaultFusion}
	}
	flow, err := answer.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := flow.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return flow
}

func put(t testing.TB, ix *embedded.Index, embedder *local.Embedder, p page) {
	t.Helper()
	document := knowledge.Document{
		ID: knowledge.DocumentID("docs:" + p.path), Source: "docs", Kind: p.kind, Path: p.path, Title: p.title,
		URL: "https://docs.example/" + p.path, Modified: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Hash: p.path, State: knowledge.StateLive,
	}
	if document.Kind == "" {
		document.Kind = knowledge.KindDocumentation
	}
	entry := index.Entry{Document: document}
	var vectors []index.Vectors
	for i, s := range p.sections {
		passage := knowledge.Passage{
			ID: knowledge.MakePassageID(document.ID, i), Document: document.ID, Position: i, Headings: []string{p.title, s.heading},
			Anchor: strings.ReplaceAll(strings.ToLower(s.heading), " ", "-"), Text: s.text, Hash: fmt.Sprint(p.path, i),
		}
		if strings.Contains(s.heading, "(BRD)") {
			passage.Definitions = []knowledge.Definition{{Short: "BRD", Long: "Business Requirements Document"}}
		}
		entry.Passages = append(entry.Passages, passage)
		windows, err := embedder.Embed(t.Context(), embedder.Windows(p.title+": "+s.heading, s.text))
		if err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, index.Vectors{Passage: passage.ID, Hash: passage.Hash, Windows: windows})
	}
	if err := ix.Write(t.Context(), index.Batch{Put: []index.Entry{entry}}); err != nil {
		t.Fatal(err)
	}
	if err := ix.WriteVectors(t.Context(), vectors); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) ask(t *testing.T, request flows.Request) flows.Outcome {
	t.Helper()
	request.Run = t.Name()
	outcome, err := f.flow.Start(t.Context(), request, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func sourcesOf(outcome flows.Outcome) []string {
	var paths []string
	for _, group := range outcome.Groups {
		for _, source := range group.Sources {
			paths = append(paths, source.Path)
		}
	}
	return paths
}

func TestAnswersQuoteAndCite(t *testing.T) {
	f := open(t)
	for _, test := range []struct{ question, says, path, anchor string }{
		{"how many days of leave do I get?", "28 days of leave a year", "leave.md", "days-of-leave"},
		{"forgot my vpn pw, how do i reset it", "self-service portal", "vpn.md", "reset-the-vpn-password"},
		{"where can I pick up a laptop", "room 12", "laptops.md", "getting-a-laptop"},
		{"whree can I pikc up a latpop", "room 12", "laptops.md", "getting-a-laptop"},
		{"BRD ??", "what a project must achieve", "vpn.md", "business-requirements-document-(brd)"},
	} {
		t.Run(test.question, func(t *testing.T) {
			got := f.ask(t, flows.Request{Text: test.question})
			if got.Kind != flows.Answered || !strings.Contains(got.Text, test.says) {
				t.Fatalf("%s: %s", got.Kind, got.Text)
			}
			first := got.Groups[0].Sources[0]
			if first.Path != test.path || first.Sections[0].Anchor != test.anchor {
				t.Errorf("cites %+v first, want %s#%s", first, test.path, test.anchor)
			}
			if !strings.HasSuffix(first.Sections[0].URL, test.path+"#"+test.anchor) {
				t.Errorf("links to %s", first.Sections[0].URL)
			}
			if got.Note != "" {
				t.Errorf("a plain answer has the note %q", got.Note)
			}

		})
	}
}

// TestEveryStatementIsAQuoteWithItsSource reads an answer apart again.
func TestEveryStatementIsAQuoteWithItsSource(t *testing.T) {
	f := open(t)
	for _, depth := range []flows.Depth{flows.Brief, flows.Detailed, flows.Comprehensive} {
		got := f.ask(t, flows.Request{Text: "how do I ask for leave in the calendar?", Depth: depth})
		cited := make(map[string]string)
		for _, group := range got.Groups {
			for _, source := range group.Sources {
				for _, s := range source.Sections {
					cited[fmt.Sprint(s.Number)] = source.Path + "#" + s.Heading
				}
			}
		}
		statements := regexp.MustCompile(`(?s)(.*?)\s\[(\d+)\]\s*`).FindAllStringSubmatch(got.Text, -1)
		if len(statements) == 0 {
			t.Fatalf("%s: no statement is cited: %s", depth, got.Text)
		}
		for _, s := range statements {
			text := textOf(cited[s[2]])
			for _, part := range strings.Split(strings.TrimSpace(s[1]), "\n\n") {
				if !strings.Contains(text, part) {
					t.Errorf("%s: %q does not stand in what [%s] cites: %q", depth, part, s[2], text)
				}
			}
		}
		if rest := regexp.MustCompile(`(?s).*\[\d+\]`).ReplaceAllString(got.Text, ""); rest != "" {
			t.Errorf("%s: %q cites nothing", depth, rest)
		}
	}
}

func textOf(place string) string {
	for _, p := range handbook {
		for _, s := range p.sections {
			if p.path+"#"+s.heading == place {
				return s.text
			}
		}
	}
	return ""
}

func TestDepthSaysHowMuch(t *testing.T) {
	f := open(t)
	question := "how many days of leave are there and how do I ask for leave?"
	brief := f.ask(t, flows.Request{Text: question, Depth: flows.Brief})
	whole := f.ask(t, flows.Request{Text: question, Depth: flows.Comprehensive})
	if len(brief.Text) >= len(whole.Text) {
		t.Errorf("brief says %d characters, comprehensive %d", len(brief.Text), len(whole.Text))
	}
}

func TestSourcesAreBounded(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Documents: 1})
	request := flows.Request{Run: "r", Text: "token for the interface and the chat bot and the pipeline", Depth: flows.Comprehensive}
	got, err := flow.Start(t.Context(), request, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if paths := sourcesOf(got); len(paths) != 1 {
		t.Errorf("quotes from %v", paths)
	}
}

func TestAFollowUpIsReadWithTheThread(t *testing.T) {
	f := open(t)
	got := f.ask(t, flows.Request{Text: "and when do I return it?", History: []flows.Turn{
		{Role: flows.User, Text: "where do I get a laptop?"},
		{Role: flows.Assistant, Text: "You get a laptop from the help desk in room 12."},
	}})
	if got.Kind != flows.Answered || !strings.Contains(got.Text, "Thursday") {
		t.Errorf("%s: %s", got.Kind, got.Text)
	}
}

func TestABroadQuestionIsAskedAbout(t *testing.T) {
	f := open(t)
	store := &store{kept: make(map[string][]byte)}
	runtime := flows.Runtime{Store: store}
	asked, err := f.flow.Start(t.Context(), flows.Request{Run: "r", Text: "where do I get the token?"}, runtime)
	if err != nil {
		t.Fatal(err)
	}
	if asked.Kind != flows.Asked {
		t.Fatalf("%s: %s", asked.Kind, asked.Text)
	}
	var labels []string
	for _, choice := range asked.Question.Choices {
		labels = append(labels, choice.Label)
	}
	for _, want := range []string{"Continuous integration", "Chat bot", "Public interface"} {
		if !slices.Contains(labels, want) {
			t.Errorf("offers %q, not %q", labels, want)
		}
	}
	for _, test := range []struct {
		name   string
		answer graph.Answer
	}{
		{"by a choice", graph.Answer{Choice: asked.Question.Choices[slices.Index(labels, "Chat bot")].ID}},
		{"in words", graph.Answer{Text: "the one for the chat bot"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked, err := f.flow.Start(t.Context(), flows.Request{Run: test.name, Text: "where do I get the token?"}, runtime)
			if err != nil {
				t.Fatal(err)
			}
			test.answer.QuestionID = asked.Question.ID
			got, err := f.flow.Resume(t.Context(), test.name, []graph.Answer{test.answer}, runtime)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != flows.Answered || got.Groups[0].Sources[0].Path != "tokens/chat.md" {
				t.Errorf("%s from %v: %s", got.Kind, sourcesOf(got), got.Text)
			}
		})
	}
}

func TestWhatTheDocumentsDontTellIsNotMadeUp(t *testing.T) {
	f := open(t)
	for _, question := range []string{
		"who won the world cup in 1954?",
		"what is the terraform resource for a firewall called",
		"😀😀😀",
		"如何申请假期？",
	} {
		got := f.ask(t, flows.Request{Text: question})
		if got.Kind != flows.Abstained || strings.Contains(got.Text, "[1]") {
			t.Errorf("%q: %s: %s", question, got.Kind, got.Text)
		}
	}
}

func TestAComparisonIsSearchedOnBothSides(t *testing.T) {
	f := open(t)
	got := f.ask(t, flows.Request{Text: "redis vs kafka, how long do they keep messages?"})
	if !strings.Contains(got.Text, "7 days") || !strings.Contains(got.Text, "30 days") {
		t.Errorf("%s: %s", got.Kind, got.Text)
	}
	if !slices.ContainsFunc(got.Trace.Notes, func(note string) bool { return strings.HasPrefix(note, "strategy parallel") }) {
		t.Errorf("no parallel search: %q", got.Trace.Notes)
	}
}

func TestSourcesAreGroupedByKind(t *testing.T) {
	f := open(t)
	got := f.ask(t, flows.Request{Text: "token for the interface and the chat bot and the pipeline", Depth: flows.Comprehensive})
	var kinds []knowledge.Kind
	for _, group := range got.Groups {
		kinds = append(kinds, group.Kind)
	}
	if !slices.Equal(kinds, []knowledge.Kind{knowledge.KindDocumentation, knowledge.KindCode}) {
		t.Errorf("groups %v of %v", kinds, sourcesOf(got))
	}
}

func TestTheTraceTellsHowItCameAbout(t *testing.T) {
	f := open(t)
	trace := f.ask(t, flows.Request{Text: "how many days of leave do I get?"}).Trace
	var nodes []string
	for _, step := range trace.Steps {
		nodes = append(nodes, step.Node)
	}
	want := []string{"query_understanding", "clarify", "strategy_decision", "hybrid_processing", "response_generation", "verify", "finalization"}
	if !slices.Equal(nodes, want) {
		t.Errorf("nodes %v, want %v", nodes, want)
	}
	if len(trace.Queries) == 0 || len(trace.Evidence) == 0 || !trace.Evidence[0].Kept {
		t.Errorf("trace %+v", trace)
	}
}

func TestALongQuestionIsCutAndSaidToBe(t *testing.T) {
	f := open(t)
	got := f.ask(t, flows.Request{Text: "how many days of leave do I get? " + strings.Repeat("x1y2 ", 20_000)})
	if !strings.Contains(got.Note+strings.Join(got.Trace.Notes, " "), "2000 characters") {
		t.Errorf("note %q, notes %q", got.Note, got.Trace.Notes)
	}
}

// store is a graph.Store in memory.
type store struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (s *store) Save(_ context.Context, run string, checkpoint []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[run] = slices.Clone(checkpoint)
	return nil
}

func (s *store) Load(_ context.Context, run string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if checkpoint, ok := s.kept[run]; ok {
		return checkpoint, nil
	}
	return nil, graph.ErrNoCheckpoint
}

// broken is an index whose searches fail after the first.
type broken struct {
	*embedded.Index
	searches atomic.Int64
}

var errBroken = errors.New("disk on fire")

func (b *broken) Search(ctx context.Context, query index.Query) (index.Candidates, error) {
	if b.searches.Add(1) > 1 {
		return index.Candidates{}, errBroken
	}
	return b.Index.Search(ctx, query)
}

func TestAFailedSearchIsSaid(t *testing.T) {
	f := open(t)
	flow := f.with(t, answer.Options{Retriever: &retrieve.Retriever{Index: &broken{Index: f.index}, Fusion: retrieve.DefaultFusion}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "redis vs kafka retention of messages"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Abstained || !strings.Contains(got.Text, "search failed") || strings.Contains(got.Text, "fire") {
		t.Errorf("%s: %s", got.Kind, got.Text)
	}
	if len(sourcesOf(got)) == 0 {
		t.Error("what the first search found is not named")
	}
}

// TestAQuoteThatIsGoneIsDropped changes a document while its question is open.
func TestAQuoteThatIsGoneIsDropped(t *testing.T) {
	f := open(t)
	gone := &vanishing{Index: f.index}
	flow := f.with(t, answer.Options{Retriever: &retrieve.Retriever{Index: gone, Fusion: retrieve.DefaultFusion}})
	got, err := flow.Start(t.Context(), flows.Request{Run: "r", Text: "how many days of leave do I get?"}, flows.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != flows.Abstained || strings.Contains(got.Text, "28 days") {
		t.Errorf("%s: %s", got.Kind, got.Text)
	}
}

// vanishing is an index whose passages are gone when they are read a second time.
type vanishing struct {
	*embedded.Index
	reads int
}

func (v *vanishing) Passages(ctx context.Context, ids []knowledge.PassageID) ([]index.Found, error) {
	v.reads++
	if v.reads > 1 {
		return nil, nil
	}
	return v.Index.Passages(ctx, ids)
}

// TestAPartOfAQuestionIsSearchedForWithTheWordsOfTheWhole: its own words don't say what it is about.
func TestAPartOfAQuestionIsSearchedForWithTheWordsOfTheWhole(t *testing.T) {
	got := open(t).ask(t, flows.Request{Text: "how do I restart the heron cluster and how many minutes does that take"})
	if !slices.ContainsFunc(got.Trace.Queries, func(q flows.Query) bool {
		return strings.HasPrefix(q.Text, "and how many minutes") && slices.Contains(slices.Concat(q.Used, q.Pruned), "heron")
	}) {
		t.Errorf("searched for %+v", got.Trace.Queries)
	}
}

// TestAFollowUpThatOnlyPointsBackLooksAtWhatWasCitedFirst has another page that is as near to the
// words before; passages that are gone are left out.
func TestAFollowUpThatOnlyPointsBackLooksAtWhatWasCitedFirst(t *testing.T) {
	f := open(t)
	for _, cited := range []string{"Retention of Redis messages", "Retention of Kafka messages"} {
		asked := f.ask(t, flows.Request{Text: cited})
		history := []flows.Turn{{Role: flows.User, Text: "how are messages kept in the queue?"}, {Role: flows.Assistant, Text: "As the queue has it [1]."}}
		for _, e := range asked.Trace.Evidence {
			if e.Section == cited {
				history[1].Cited = []knowledge.PassageID{"gone", e.Passage}
			}
		}
		if history[1].Cited == nil {
			t.Fatalf("%q is not found", cited)
		}
		got := f.ask(t, flows.Request{Text: "since when?", History: history})
		if len(got.Trace.Evidence) == 0 || got.Trace.Evidence[0].Section != cited {
			t.Errorf("after %q the evidence is %+v", cited, got.Trace.Evidence)
		}
	}
}

// TestACitedSectionNamesItsPassage, for follow-ups.
func TestACitedSectionNamesItsPassage(t *testing.T) {
	got := open(t).ask(t, flows.Request{Text: "how long does Kafka keep messages?"})
	if got.Kind != flows.Answered || len(got.Groups) == 0 || got.Groups[0].Sources[0].Sections[0].Passage == "" {
		t.Errorf("%s: %+v", got.Kind, got.Groups)
	}
}

// TestAPastedLogIsSearchedForLineByLine, and what went wrong first.
func TestAPastedLogIsSearchedForLineByLine(t *testing.T) {
	got := open(t).ask(t, flows.Request{Text: "$ laptop return\nreading the badge from the desk\nERROR the help desk wipes no laptop without receipt\nand now?"})
	if len(got.Trace.Queries) < 2 || got.Trace.Queries[1].Text != "the help desk wipes no laptop without receipt" {
		t.Errorf("searched for %+v", got.Trace.Queries)
	}
}

// TestWhatSpeaksOfAnErrorGoesBeforeWhatShowsIt in the output of a command.
func TestWhatSpeaksOfAnErrorGoesBeforeWhatShowsIt(t *testing.T) {
	profile := support.Profile{Terms: []support.Term{{Text: "press", IDF: 1}, {Text: "paper", IDF: 1}}}
	ordered := answer.PreferMending(profile, []retrieve.Evidence{
		{Score: 1, Document: knowledge.Document{Title: "Badges"}, Passage: knowledge.Passage{Text: "Print a badge:\n\n```\n$ badge print\nthe press has no more paper\n```\n\nIt takes a minute."}},
		{Score: 0.8, Document: knowledge.Document{Title: "Problems"}, Passage: knowledge.Passage{Text: "Where the press has no paper, put some into its tray."}},
	})
	if ordered[0].Document.Title != "Problems" {
		t.Errorf("first is %+v", ordered[0])
	}
}
