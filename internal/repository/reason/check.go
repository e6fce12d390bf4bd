package reason

import (
	"context"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/verification"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/repository/report"
)

// claim is a statement of a model beside what it cites.
type claim struct {
	section int
	text    string
	cites   []int // positions of sources
	label   support.Label
}

// checker holds statements against the sources that they cite.
type checker struct {
	task    Task
	claims  []claim
	leftOut int
}

// add takes a statement of a section that cites sources and has no number, name or code that these
// lack. Code is in other words than what is said of it, so that words alone mark what shares none
// with it, and leave out nothing else.
func (c *checker) add(section int, text string, numbers []int) {
	if text == "" {
		return
	}
	cites := c.task.positions(numbers)
	var cited []Source
	for _, position := range cites {
		cited = append(cited, c.task.Sources[position])
	}
	evidence := support.ReadEvidence(lines(cited))
	if len(cites) == 0 || len(evidence.Absent(c.task.stated(text))) > 0 {
		c.leftOut++
		return
	}
	made := claim{section, text, cites, support.Supported}
	if evidence.Check(text).Score == 0 {
		made.label = support.Partly
	}
	c.claims = append(c.claims, made)
}

// verify has a model judge the statements; where it fails, or can't be believed, their words
// decide. The error is the end of ctx.
func (c *checker) verify(ctx context.Context, model llm.Model, written *Written) error {
	asked := verification.Request{Run: c.task.Run, Question: c.task.Text}
	for _, source := range c.task.Sources {
		asked.Sources = append(asked.Sources, verification.Source{Title: source.Label, Text: source.Text})
	}
	for _, one := range c.claims {
		asked.Statements = append(asked.Statements, verification.Statement{Text: one.text, Cites: one.cites})
	}
	verdicts, err := verification.Ask(ctx, model, asked)
	written.Uses = append(written.Uses, verdicts.Uses...)
	if err != nil {
		return err
	}
	if remark := verdicts.Remark(); remark != "" {
		written.Remarks = append(written.Remarks, remark)
		return nil
	}
	written.ByModel = true
	for i, label := range verdicts.Labels {
		c.claims[i].label = label
	}
	return nil
}

// keepStatements gives the statements of a section that their sources support, wholly or in part.
func (c *checker) keepStatements(section int) []report.Statement {
	var kept []report.Statement
	for _, one := range c.claims {
		switch {
		case one.section != section:
			continue
		case one.label == support.Unsupported:
			c.leftOut++
			continue
		}
		made := report.Statement{Text: one.text, Partly: one.label == support.Partly}
		for _, position := range one.cites {
			source := c.task.Sources[position]
			made.Cites = append(made.Cites, report.Cite{Label: source.Label, URL: source.URL})
		}
		kept = append(kept, made)
	}
	return kept
}

// positions gives the positions of the sources that numbers name.
func (t Task) positions(numbers []int) []int {
	var positions []int
	for _, number := range numbers {
		if number >= 1 && number <= len(t.Sources) {
			positions = append(positions, number-1)
		}
	}
	return positions
}

// absentWords gives the numbers, names and code of a statement that sources don't have.
func (t Task) absentWords(text string, sources []Source) []string {
	return support.Absent(t.stated(text), lines(sources))
}

func (t Task) stated(text string) support.Stated {
	return support.Stated{Text: text, Question: t.Text}
}

// lines gives the lines of sources, each with its label before it.
func lines(sources []Source) []string {
	var all []string
	for _, source := range sources {
		all = append(append(all, source.Label), strings.Split(source.Text, "\n")...)
	}
	return all
}
