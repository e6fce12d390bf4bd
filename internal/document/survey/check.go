package survey

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/document/verification"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// strayMark is a citation inside a statement: what it cites stands beside it.
var strayMark = regexp.MustCompile(`\[\d{1,3}\]`)

// claim is a statement of a model beside what it cites.
type claim struct {
	part  int // of the report
	made  evidence.Statement
	from  sourceItem
	label support.Label
}

// checker holds the statements of a report against what they cite, by their words and by a model
// where there is one, as answers are checked. A statement with a number, a name or code that what
// it cites does not have is left out, whoever supports it.
type checker struct {
	question string    // what the statements are to tell
	run      string    // whose budget pays
	verifier llm.Model // nil: words alone are compared

	claims       []claim
	kept, partly int
	dropped      int
	byModel      bool
	uses         []flows.ModelUse
	remarks      []string
}

// add takes the statements of a part that cite something and have no number, name or code that this
// lacks.
func (c *checker) add(part int, items []sourceItem, told []modelNote) {
	for _, n := range told[:min(len(told), maxStatements)] {
		from := joinCited(items, n.Sources)
		made := evidence.Statement{Text: evidence.Line(n.Text), Places: from.places}
		if made.Text == "" {
			continue
		}
		read := support.ReadEvidence(from.itemSentences())
		stated := strayMark.ReplaceAllString(knowledge.WithoutAddresses(made.Text), "")
		if len(made.Places) == 0 || len(read.Absent(support.Stated{Text: stated, Question: c.question})) > 0 {
			c.dropped++
			continue
		}
		c.claims = append(c.claims, claim{part, made, from, labelByWords(read.Check(stated))})
	}
}

// labelByWords labels a statement that has nothing its sources lack.
func labelByWords(verdict support.Verdict) support.Label {
	if verdict.Faithful >= support.FaithfulFrom {
		return support.Supported
	}
	if verdict.Label == support.Unsupported {
		return support.Unsupported
	}
	return support.Partly
}

// verify has the model judge the statements; where it fails, or can't be believed, their words
// decide. The error is the end of ctx.
func (c *checker) verify(ctx context.Context) error {
	if c.verifier == nil || len(c.claims) == 0 {
		return nil
	}
	asked := verification.Request{Run: c.run, Question: c.question}
	known := make(map[string]int)
	for _, one := range c.claims {
		statement := verification.Statement{Text: one.made.Text}
		for _, text := range one.from.told {
			at, ok := known[text]
			if !ok {
				at = len(asked.Sources)
				known[text] = at
				asked.Sources = append(asked.Sources, verification.Source{Title: one.from.label, Text: text})
			}
			statement.Cites = append(statement.Cites, at)
		}
		asked.Statements = append(asked.Statements, statement)
	}
	verdicts, err := verification.Ask(ctx, c.verifier, asked)
	c.uses = verdicts.Uses
	if err != nil {
		return err
	}
	if remark := verdicts.Remark(); remark != "" {
		c.remarks = append(c.remarks, remark)
		return nil
	}
	c.byModel = true
	for i, label := range verdicts.Labels {
		c.claims[i].label = label
	}
	return nil
}

// keepStatements gives the statements of a part that what they cite tells, wholly or in part.
func (c *checker) keepStatements(part int) []evidence.Statement {
	var kept []evidence.Statement
	for _, one := range c.claims {
		switch {
		case one.part != part:
			continue
		case one.label == support.Unsupported:
			c.dropped++
			continue
		case one.label == support.Partly:
			one.made.Partly = true
			c.partly++
		}
		c.kept++
		kept = append(kept, one.made)
	}
	return kept
}

// note says how the statements were checked, and how many were left out.
func (c *checker) note(speaker phrases.Speaker) string {
	said := []string{speaker.Text(phrases.ReportChecked)}
	if !c.byModel {
		said = append(said, speaker.Text(phrases.WordsCompared))
	}
	if c.dropped > 0 {
		said = append(said, speaker.Count(phrases.StatementsRemoved, c.dropped))
	}
	if c.partly > 0 {
		said = append(said, speaker.Count(phrases.StatementsPartly, c.partly))
	}
	return strings.Join(said, " ")
}

// distinct adds to texts those of more that are not among them, up to a number.
func distinct(texts, more []string, most int) []string {
	for _, text := range more {
		if len(texts) < most && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}
