package web

import (
	"bytes"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
)

// pageView is what page.html shows.
type pageView struct {
	Thread      string
	Seen        string // what the event stream goes on from
	Exchanges   []exchangeView
	Cut         bool
	Working     bool
	Suggestions []string
	Stats       string
}

// exchangeView is an exchange as templates/exchange.html shows it. Its strings are
// cleaned; templates escape them.
type exchangeView struct {
	Thread  string
	ID      string
	Text    string
	Title   string // the beginning of the text
	Working bool
	Queued  bool
	Steps   []stepView
	Current string // the step that runs
	Took    string // all steps together
	Said    []saidView
	Failure string
}

type stepView struct {
	Description, Status, Took string
}

type saidView struct {
	Thread   string
	Outcome  string // of a reply; "" for a question
	Text     template.HTML
	Note     string
	Run      string
	Retry    string // the message to send again, after a failure
	Groups   []groupView
	Trace    *traceView
	Question *questionView
}

type questionView struct {
	Place    string
	FreeText bool
	Choices  []chat.Choice
	Taken    string
}

type groupView struct {
	Category string
	Sources  []sourceView
}

type sourceView struct {
	Marks     []markView
	Title     string
	Address   string // http or https; "" when there is none to open
	Sections  []sectionView
	Place     string
	Owner     string
	Freshness string
	Stale     bool
}

type markView struct {
	Number int
	Anchor string
}

type sectionView struct {
	Heading, Address string
}

type traceView struct {
	Took     string
	Steps    []stepView
	Queries  []queryView
	Evidence []evidenceView
	Notes    []string
}

type queryView struct {
	Text, Used, Pruned, Took string
	Lexical, Dense           int
}

type evidenceView struct {
	Title, Section, Score, Lexical, Dense string
	Kept                                  bool
}

// view makes an exchange ready to show. The caller holds the thread's mu.
func (w *Web) view(thread string, e *exchange) (exchangeView, error) {
	v := exchangeView{
		Thread: thread, ID: domID(e.id), Text: markup.Clean(e.text), Title: title(e.text), Failure: markup.CleanLine(e.failure),
		Working: e.state != done, Queued: e.state == queued,
	}
	var total time.Duration
	for _, step := range e.steps {
		v.Steps = append(v.Steps, stepView{markup.CleanLine(step.Description), string(step.Status), took(step.Took)})
		total += step.Took
		if step.Status == chat.Running {
			v.Current = markup.CleanLine(step.Description)
		}
	}
	v.Took = took(total)
	for i, what := range e.said {
		shown, err := w.saidView(place(e, i), what)
		if err != nil {
			return exchangeView{}, err
		}
		shown.Thread = thread
		if shown.Outcome == string(chat.Failure) {
			shown.Retry = v.Text
		}
		v.Said = append(v.Said, shown)
	}
	return v, nil
}

// title is the beginning of a message, to name its exchange by.
func title(text string) string {
	const most = 80
	runes := []rune(markup.CleanLine(text))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most]) + "…"
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

func (w *Web) saidView(id string, what said) (saidView, error) {
	if what.question != nil {
		text, err := markdown(what.question.Text, nil, nil)
		question := &questionView{Place: id, FreeText: what.question.FreeText, Taken: markup.CleanLine(what.taken())}
		for _, choice := range what.question.Choices {
			choice.Label, choice.Detail = markup.CleanLine(choice.Label), markup.CleanLine(choice.Detail)
			question.Choices = append(question.Choices, choice)
		}
		return saidView{Text: text, Question: question}, err
	}
	reply := what.reply
	refs := make(map[int]sourceRef)
	v := saidView{
		Outcome: string(reply.Outcome), Note: markup.CleanLine(reply.Note), Run: markup.CleanLine(string(reply.Run)),
		Groups: groups(id, reply.Sources, w.options.Now(), refs), Trace: trace(reply.Trace),
	}
	var err error
	v.Text, err = markdown(reply.Text, reply.Sources, refs)
	return v, err
}

// groups makes the rows of sources, and notes in refs where each mark's row is.
func groups(id string, sources []chat.SourceGroup, now time.Time, refs map[int]sourceRef) []groupView {
	views := make([]groupView, 0, len(sources))
	for _, group := range sources {
		v := groupView{Category: markup.CleanLine(group.Category)}
		for _, source := range group.Sources {
			row := sourceView{
				Title: markup.CleanLine(source.Title), Owner: markup.CleanLine(source.Owner), Place: markup.CleanLine(source.Path),
				Freshness: markup.Freshness(source, now), Stale: source.State == "changed" || source.State == "gone",
			}
			for i, section := range source.Sections {
				address, _ := markup.WebAddress(section.URL)
				if i == 0 {
					row.Address, row.Place = address, markup.Place(source, section)
				}
				if heading := markup.CleanLine(section.Heading); heading != "" {
					row.Sections = append(row.Sections, sectionView{heading, address})
				}
			}
			for _, number := range source.Numbers {
				anchor := id + "-s" + strconv.Itoa(number)
				row.Marks = append(row.Marks, markView{number, anchor})
				refs[number] = sourceRef{anchor, refLabel(source, number)}
			}
			v.Sources = append(v.Sources, row)
		}
		views = append(views, v)
	}
	return views
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

func trace(t chat.Trace) *traceView {
	if len(t.Steps)+len(t.Queries)+len(t.Evidence)+len(t.Notes) == 0 {
		return nil
	}
	v := &traceView{Took: took(t.Took)}
	for _, step := range t.Steps {
		v.Steps = append(v.Steps, stepView{markup.CleanLine(step.Node), "", took(step.Took)})
	}
	for _, query := range t.Queries {
		v.Queries = append(v.Queries, queryView{
			markup.CleanLine(query.Text), terms(query.Used), terms(query.Pruned), took(query.Took), query.Lexical, query.Dense,
		})
	}
	for _, candidate := range t.Evidence {
		v.Evidence = append(v.Evidence, evidenceView{
			markup.CleanLine(candidate.Title), markup.CleanLine(candidate.Section),
			fmt.Sprintf("%.2f", candidate.Score), fmt.Sprintf("%.1f", candidate.Lexical), fmt.Sprintf("%.2f", candidate.Dense), candidate.Kept,
		})
	}
	for _, note := range t.Notes {
		v.Notes = append(v.Notes, markup.CleanLine(note))
	}
	return v
}

func terms(terms []string) string { return markup.CleanLine(strings.Join(terms, ", ")) }

// took is a time to show, "" for none.
func took(d time.Duration) string {
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

// fragment renders one template of an exchange.
func (w *Web) fragment(name string, v exchangeView) (string, error) {
	var out bytes.Buffer
	if err := w.page.ExecuteTemplate(&out, name, v); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}
