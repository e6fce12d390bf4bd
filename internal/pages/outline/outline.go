// Package outline drafts a page about a question that found no good answer: the question, a place
// for the answer, and the passages of the documents that are nearest to the question. No language
// model takes part.
package outline

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Search finds the passages that are nearest to a question, of those that the viewers of the
// context may see; *retrieve.Retriever has it.
type Search func(ctx context.Context, query retrieve.Query) (retrieve.Result, error)

// Bounds of an outline.
const (
	maxPassages  = 10
	maxDocuments = 5
	maxSentences = 2   // of a passage
	maxExcerpt   = 400 // letters of a passage
	maxQuestion  = 500 // letters
	maxName      = 120 // letters of the name of a document or a section
)

// Draft makes the outline of a page about a question.
func Draft(ctx context.Context, search Search, question string) (*tree.Node, error) {
	found, err := search(ctx, retrieve.Query{Text: question, Limit: maxPassages})
	if err != nil {
		return nil, fmt.Errorf("look for passages near a question: %w", err)
	}
	root := buildOutline(shorten.Line(question, maxQuestion), found.Evidence)
	if err := tree.Normalize(root); err != nil {
		return nil, fmt.Errorf("outline a page: %w", err)
	}
	return root, nil
}

// MakeTitle gives the title of a page about a question.
func MakeTitle(question string) string {
	return strings.TrimRight(shorten.Line(question, maxName), "?!.:¿？。 ")
}

// buildOutline lays the page out.
func buildOutline(question string, evidence []retrieve.Evidence) *tree.Node {
	root := &tree.Node{Kind: tree.Root, Children: []*tree.Node{
		heading(2, "Question"), tree.NewBlock(tree.Quote, tree.NewText(question, 0)),
		heading(2, "Answer"), tree.NewBlock(tree.Paragraph),
		heading(2, "To do"), todo("Answer the question in one or two sentences", "Add the steps or an example", "Name who knows more"),
	}}
	groups := groupByDocument(evidence)
	if len(groups) == 0 {
		root.Children = append(root.Children, tree.NewBlock(tree.Paragraph, tree.NewText("No document says anything near this question.", tree.Italic)))
		return root
	}
	root.Children = append(root.Children, heading(2, "Nearest in the documents"),
		tree.NewBlock(tree.Paragraph, tree.NewText("Quoted for the author; none of it was found to answer the question.", tree.Italic)))
	for _, group := range groups {
		list := tree.NewBlock(tree.List)
		for _, one := range group {
			list.Children = append(list.Children, tree.NewBlock(tree.ListItem, quotePassage(one)...))
		}
		root.Children = append(root.Children, heading(3, nameDocument(group[0].Document)), list)
	}
	return root
}

func heading(level int, text string) *tree.Node {
	n := tree.NewBlock(tree.Heading, tree.NewText(text, 0))
	n.Level = level
	return n
}

func todo(items ...string) *tree.Node {
	list := tree.NewBlock(tree.List)
	list.ListType = tree.Check
	for _, item := range items {
		list.Children = append(list.Children, tree.NewBlock(tree.ListItem, tree.NewText(item, 0)))
	}
	return list
}

// groupByDocument puts passages of one document together, in the order of the best of each.
func groupByDocument(evidence []retrieve.Evidence) [][]retrieve.Evidence {
	var groups [][]retrieve.Evidence
	at := make(map[knowledge.DocumentID]int)
	for _, one := range evidence {
		place, ok := at[one.Document.ID]
		if !ok {
			if len(groups) == maxDocuments {
				continue
			}
			place = len(groups)
			at[one.Document.ID] = place
			groups = append(groups, nil)
		}
		groups[place] = append(groups[place], one)
	}
	return groups
}

func nameDocument(document knowledge.Document) string {
	name := document.Title
	if name == "" {
		name = document.Path
	}
	return shorten.Line(name, maxName)
}

// quotePassage gives the first sentences of a passage, and a link to where it stands.
func quotePassage(one retrieve.Evidence) []*tree.Node {
	var said []string
	for _, cut := range sentence.Split(one.Passage.Text) {
		if strings.HasPrefix(cut.Text, "```") || strings.HasPrefix(cut.Text, "~~~") {
			continue // code is read where it stands
		}
		if said = append(said, strings.TrimLeft(cut.Text, "-*+ ")); len(said) == maxSentences {
			break
		}
	}
	section := one.Passage.Section()
	if section == "" {
		section = one.Document.Path
	}
	section = shorten.Line(section, maxName)
	nodes := []*tree.Node{tree.NewText(shorten.Line(strings.Join(said, " "), maxExcerpt)+" (", 0)}
	if address, ok := tree.SafeURL(knowledge.URLWithAnchor(one.Document, one.Passage.Anchor)); ok && one.Document.URL != "" {
		link := tree.NewBlock(tree.Link, tree.NewText(section, 0))
		link.URL = address
		nodes = append(nodes, link)
	} else {
		nodes = append(nodes, tree.NewText(section, 0))
	}
	return append(nodes, tree.NewText(")", 0))
}
