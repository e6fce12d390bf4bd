package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// pageView is what page.html shows.
type pageView struct {
	Thread      string
	Seen        string // what the event stream goes on from
	Mine        bool   // who looks may write
	List        listView
	Exchanges   []exchangeView
	Cut         bool
	Working     bool
	Suggestions []string
	Stats       string
	Person      string // who is signed in; "" where nobody signs in
	Pages       bool   // there are pages to write
	Static      bool   // somebody else's conversation, which is not followed
	Manage      *manageView
	Attach      *attachView // nil: no files can be attached
	Collections []string    // that a message can be limited to; none where there is no choice
}

// exchangeView is an exchange as templates/exchange.html shows it. Its strings are
// cleaned; templates escape them.
type exchangeView struct {
	Thread  string
	ID      string
	Mine    bool
	Text    string
	Long    bool       // the text is folded
	Lines   int        // of the text
	Files   []fileView // that came with the message
	Rewrite bool       // it can be asked anew
	Title   string     // the beginning of the text
	Working bool
	Queued  bool
	Steps   []stepView
	Current string // the step that runs
	Took    string // all steps together
	Draft   []template.HTML
	Said    []saidView
	Failure string
	Stopped bool // the failure is that its asker stopped it
}

// stepView is a step while it is made.
type stepView struct {
	Description, Status, Took string
}

type saidView struct {
	Thread    string
	Place     string // id of its element
	Mine      bool
	Outcome   string // of a reply; "" for a question
	Text      template.HTML
	Note      string
	Run       string
	Exchange  string       // id of the element of its exchange
	Rewrite   bool         // it can be made anew
	Rate      bool         // the reply can be rated
	Reasoned  bool         // the owner said why it did not help
	Retry     bool         // the run can be gone on with
	Actions   []actionView // what can be done about what the run made
	Verdict   string       // the owner's
	Sources   *sourcesView // nil for none
	Documents []documentView
	Question  *questionView
}

// outcomeStopped is that of a reply whose run its asker stopped: it is no failure to them.
const outcomeStopped = "stopped"

type questionView struct {
	FreeText bool
	Choices  []chat.Choice
	Taken    string
	Dropped  bool   // closed without an answer
	Meant    string // shown in the place of the question; "" for none
}

// sourcesView is the line of sources under a reply, and all of them behind it.
type sourcesView struct {
	Count  string       // "2 sources", where the text is long enough for a way to them
	Named  []sourceView // on the line, the first that are cited
	More   string       // how many documents the line does not name; "" for none
	Groups []groupView
}

// maxNamed is how many sources the line under a reply names.
const maxNamed = 3

// total is how many documents there are.
func (v *sourcesView) total() int {
	count := 0
	for _, group := range v.Groups {
		count += len(group.Sources)
	}
	return count
}

type groupView struct {
	Category string
	Sources  []sourceView
}

type sourceView struct {
	Marks     []markView
	Title     string
	Address   string // http or https; "" when there is none to open
	View      string // where the page shows it as Cairn has it; "" for nowhere
	Sections  []sectionView
	Place     string
	Owner     string
	Freshness string
	State     string // "changed", "gone" or "old", else ""
}

// markView is a number that cites a source, and what hovering it shows.
type markView struct {
	Number                int
	Anchor, View          string
	Title, Section, Place string
	Freshness, State      string
}

type sectionView struct {
	Heading, Address, View string
}

// A message is long from so many bytes or line ends on.
const (
	longText  = 600
	longLines = 10
)

// jumpText is from how many bytes of an answer on there is a way from its beginning to its sources.
const jumpText = 1500

// exchangeViewOf makes an exchange, which is a copy, ready to show to a visitor.
func (w *Web) exchangeViewOf(in visit, e *exchange) (exchangeView, error) {
	v := exchangeView{
		Thread: in.thread.id, ID: domID(e.id), Mine: in.canWrite(), Text: markup.Clean(e.text), Title: exchangeTitle(cmp.Or(e.text, fileNames(e.files), "Files")),
		Failure: markup.CleanLine(e.failure), Working: e.state != done, Queued: e.state == queued,
	}
	v.Files, v.Stopped = fileViews(e.files), e.failure == stoppedText
	v.Lines = strings.Count(v.Text, "\n") + 1
	v.Long = len(v.Text) > longText || v.Lines > longLines
	v.Rewrite = v.Mine && w.options.Rewriter != nil && v.Text != ""
	var total time.Duration
	for _, step := range e.steps {
		v.Steps = append(v.Steps, stepView{markup.CleanLine(step.Description), string(step.Status), durationText(step.Took)})
		total += step.Took
		if step.Status == chat.Running {
			v.Current = markup.CleanLine(step.Description)
		}
	}
	v.Took = durationText(total)
	var err error
	if v.Draft, err = draftBlocks(string(e.draft)); err != nil {
		return exchangeView{}, err
	}
	for i, what := range e.said {
		shown, err := w.saidView(elementID(e, i), what)
		if err != nil {
			return exchangeView{}, err
		}
		shown.Thread, shown.Mine = v.Thread, v.Mine
		shown.Documents = documentViews(shown, what)
		shown.Verdict, shown.Reasoned = string(what.verdict), what.reasoned
		shown.Exchange, shown.Rewrite = v.ID, v.Rewrite && what.reply != nil && what.runID() != "" && !what.hasFailed()
		shown.Rate = what.reply != nil && what.reply.Outcome == chat.Answered && what.runID() != ""
		shown.Actions = actionViews(what, pinner{w}.address(in.thread.id, elementID(e, i)))
		shown.Retry = what.hasFailed() && what.runID() != "" && e.state == done
		v.Said = append(v.Said, shown)
	}
	return v, nil
}

// actionView is a button that says something in the thread.
type actionView struct {
	Label, Command string
	Address        string // of a page that it is done on; "" where the command is said
}

// actionViews gives what can be done about a reply. Answers are pinned at an address, "" where that is
// a command.
func actionViews(what said, pins string) []actionView {
	if what.reply == nil {
		return nil
	}
	var views []actionView
	for _, action := range what.reply.Actions {
		if label := action.Label(); label != "" {
			v := actionView{Label: label, Command: action.Command(what.reply.Run)}
			if action == chat.PinAnswer {
				v.Address = pins
			}
			views = append(views, v)
		}
	}
	return views
}

// exchangeTitle is the beginning of a message, to name its exchange by.
func exchangeTitle(text string) string {
	return shorten.Text(markup.CleanLine(text), 80)
}

// domID makes a message's id an element's: only the letters and digits that ids of
// this adapter are made of.
func domID(id chat.MessageID) string {
	return "m-" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, string(id))
}

func (w *Web) saidView(at string, what said) (saidView, error) {
	v := saidView{Place: at, Run: markup.CleanLine(string(what.runID()))}
	var err error
	if what.question != nil {
		v.Question = askedView(what)
		v.Text, err = renderMarkdown(what.question.Text, nil, nil)
		return v, err
	}
	reply := what.reply
	refs := make(map[int]sourceRef)
	v.Outcome, v.Note = string(reply.Outcome), markup.CleanLine(reply.Note)
	if reply.Stopped {
		v.Outcome = outcomeStopped
	}
	v.Sources = newSourcesView(sourceLister{w.options.Now(), w.options.Sources != nil}.sourceGroups(at, reply.Sources, refs))
	v.Text, err = renderMarkdown(reply.Text, reply.Sources, refs)
	if v.Sources != nil && len(reply.Text) > jumpText {
		v.Sources.Count = english.Plural(v.Sources.total(), "source", "")
	}
	return v, err
}

func askedView(what said) *questionView {
	v := &questionView{FreeText: what.question.FreeText, Taken: markup.CleanLine(what.takenChoice())}
	v.Dropped = what.answer == "cancelled" || what.answer == "left open"
	if what.answer != "" {
		v.Meant = markup.CleanLine(what.question.Meant)
	}
	for _, choice := range what.question.Choices {
		choice.Label, choice.Detail = markup.CleanLine(choice.Label), markup.CleanLine(choice.Detail)
		v.Choices = append(v.Choices, choice)
	}
	return v
}

// newSourcesView names the sources on one line in the order of their marks, those that are
// not cited last. It is nil where there are none.
func newSourcesView(groups []groupView) *sourcesView {
	var all []sourceView
	for _, group := range groups {
		all = append(all, group.Sources...)
	}
	if len(all) == 0 {
		return nil
	}
	firstMark := func(s sourceView) int {
		if len(s.Marks) == 0 {
			return math.MaxInt
		}
		return s.Marks[0].Number
	}
	slices.SortStableFunc(all, func(a, b sourceView) int { return cmp.Compare(firstMark(a), firstMark(b)) })
	v := &sourcesView{Named: all[:min(len(all), maxNamed)], Groups: groups}
	if more := len(all) - len(v.Named); more > 0 {
		v.More = markup.MoreDocuments(more)
	}
	return v
}

// sourceLister makes the rows of sources as of now. opens tells that the page shows passages.
type sourceLister struct {
	now   time.Time
	opens bool
}

// sourceGroups makes the rows of sources, and notes in refs where each mark's row is.
func (l sourceLister) sourceGroups(id string, sources []chat.SourceGroup, refs map[int]sourceRef) []groupView {
	views := make([]groupView, 0, len(sources))
	for _, group := range sources {
		v := groupView{Category: markup.CleanLine(group.Category)}
		for _, source := range group.Sources {
			row := sourceView{
				Title: markup.CleanLine(source.Title), Owner: markup.CleanLine(source.Owner), Place: markup.CleanLine(source.Path),
				Freshness: markup.Freshness(source, l.now),
			}
			if source.State == "changed" || source.State == "gone" || source.State == "old" {
				row.State = source.State
			}
			for i, section := range source.Sections {
				address, _ := markup.WebAddress(section.URL)
				view := l.viewPath(source, section)
				if i == 0 {
					row.Address, row.View, row.Place = address, view, markup.Place(source, section)
				}
				if heading := markup.CleanLine(section.Heading); heading != "" {
					row.Sections = append(row.Sections, sectionView{heading, address, view})
				}
			}
			for _, number := range source.Numbers {
				anchor := id + "-s" + strconv.Itoa(number)
				row.Marks = append(row.Marks, l.citationMark(source, row, number, anchor))
				refs[number] = sourceRef{anchor, refLabel(source, number), row.Marks[len(row.Marks)-1].View}
			}
			v.Sources = append(v.Sources, row)
		}
		views = append(views, v)
	}
	return views
}

// citationMark is what the mark with a number shows of its source.
func (l sourceLister) citationMark(source chat.Source, row sourceView, number int, anchor string) markView {
	v := markView{
		Number: number, Anchor: anchor, Title: row.Title, Place: row.Place, Freshness: row.Freshness, State: row.State,
	}
	for _, section := range source.Sections {
		if section.Number == number {
			v.Section, v.Place, v.View = markup.CleanLine(section.Heading), markup.Place(source, section), l.viewPath(source, section)
		}
	}
	return v
}

func refLabel(source chat.Source, number int) string {
	label := markup.CleanLine(source.Title)
	for _, section := range source.Sections {
		if heading := markup.CleanLine(section.Heading); section.Number == number && heading != "" {
			return label + " — " + heading
		}
	}
	return label
}

// durationText is a time to show, "" for none.
func durationText(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return "<1 ms"
}
