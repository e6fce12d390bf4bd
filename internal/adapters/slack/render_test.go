package slack

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/yuin/goldmark/ast"

	"github.com/cairn-bot/cairn/internal/adapters/slack/slacktest"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update and look at what changed. Got:\n%s", file, got)
	}
}

// seen posts what was rendered into a Slack and gives what people see.
func seen(t *testing.T, post chat.Post) string {
	t.Helper()
	shown, err := renderPost(post, look{})
	if err != nil {
		t.Fatal(err)
	}
	server := slacktest.New(slacktest.Options{Clock: slacktest.NewManual(chattest.Now), Unlimited: true})
	defer server.Close()
	server.Person("U0ANN", "Ann")
	server.Person("U0BEN", "Ben")
	general := server.Channel("C1", "general")
	api := slack.New(slacktest.BotToken, slack.OptionAPIURL(server.APIURL()))
	var out strings.Builder
	for _, one := range shown.notes {
		fmt.Fprintf(&out, "notification: %s\n", one.text)
		if _, _, err := api.PostMessage(general, slack.MsgOptionText(one.text, false), slack.MsgOptionBlocks(one.blocks...)); err != nil {
			t.Fatalf("%v: %s", err, saidBy(one.blocks))
		}
	}
	for _, file := range shown.files {
		fmt.Fprintf(&out, "file %s of %d bytes\n", file.title, len(file.content))
	}
	return out.String() + server.Show(general)
}

func TestRender(t *testing.T) {
	answer, hostile, worldly, abstained, failed := chattest.Answer(), chattest.Hostile(), chattest.Worldly(), chattest.Abstained(), chattest.Failed()
	hostile.Run = "run-1"
	question, hostileQuestion := chattest.Question(), chattest.HostileQuestion()
	question.Asker = "U0ANN"
	hostileQuestion.ID, hostileQuestion.Choices[0].ID = "question-2", "choice"
	hostileQuestion.Text += " <!channel> <@U0ANN> @here"
	for name, post := range map[string]chat.Post{
		"answer":            {Reply: &answer},
		"answer-private":    {Reply: &answer, Only: "U0ANN"},
		"hostile":           {Reply: &hostile},
		"worldly":           {Reply: &worldly},
		"abstained":         {Reply: &abstained},
		"failed":            {Reply: &failed},
		"question":          {Question: &question},
		"question-answered": {Question: &question, Answer: "api", AnsweredBy: "U0BEN"},
		"question-meant":    {Question: meant(question), Answer: "api", AnsweredBy: "U0BEN"},
		"question-worded":   {Question: &question, Answer: "the one with <!channel>", AnsweredBy: "web:ben"},
		"question-hostile":  {Question: &hostileQuestion},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, seen(t, post)) })
	}
}

// meant is a question whose asker chose.
func meant(question chat.Question) *chat.Question {
	question.Meant = "You meant: the API"
	return &question
}

func TestManySourcesAreFolded(t *testing.T) {
	reply := chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: "Yes.", Sources: []chat.SourceGroup{{Category: "Documentation"}, {Category: "Code"}}}
	for i := range 20 {
		group := &reply.Sources[i/15]
		group.Sources = append(group.Sources, chat.Source{Numbers: []int{i + 1}, Title: fmt.Sprintf("Document %d", i+1), State: "live"})
	}
	golden(t, "folded", seen(t, chat.Post{Reply: &reply}))
}

func TestLongAnswersAreSplitBetweenPieces(t *testing.T) {
	var text strings.Builder
	for i := range 9 {
		fmt.Fprintf(&text, "Paragraph %d says %s.\n\n1. item %d %s\n\n```\nfence %d\n%s\nend %d\n```\n\n", i, chattest.Long(700), i, chattest.Long(300), i, chattest.Long(900), i)
	}
	shown, err := renderPost(chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text.String()}}, look{})
	if err != nil {
		t.Fatal(err)
	}
	if len(shown.notes) < 2 || len(shown.files) > 0 {
		t.Fatalf("%d messages and %d files", len(shown.notes), len(shown.files))
	}
	for _, one := range shown.notes {
		raw, err := json.Marshal(one.blocks)
		if err != nil {
			t.Fatal(err)
		}
		if begins, ends := strings.Count(string(raw), `fence `), strings.Count(string(raw), `\nend `); begins != ends {
			t.Errorf("a fence was cut: %d begin, %d end", begins, ends)
		}
	}
}

func TestAnswersTooLongForMessagesAreFiles(t *testing.T) {
	for name, text := range map[string]string{
		"a fence":  "Look:\n\n```\n" + chattest.Long(9000) + "\n```\n\nThat was it.",
		"all text": chattest.Long(31000),
	} {
		shown, err := renderPost(chat.Post{Reply: &chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text}}, look{})
		if err != nil || len(shown.notes) != 1 || len(shown.files) != 1 || string(shown.files[0].content) != text {
			t.Errorf("%s: %d messages and %d files, %v", name, len(shown.notes), len(shown.files), err)
		}
	}
}

func TestIDsThatDoNotFitAreAnError(t *testing.T) {
	long := strings.Repeat("x", 260)
	for _, post := range []chat.Post{
		{Reply: &chat.Reply{Run: chat.RunID(long), Text: "x"}},
		{Question: &chat.Question{ID: long, Text: "x", FreeText: true}},
		{},
	} {
		if _, err := renderPost(post, look{}); err == nil {
			t.Errorf("%+v was rendered", post)
		}
	}
}

// check gives what is wrong with how a reply is shown: blocks that Slack refuses, text
// that is lost, people who are called.
func check(text, other string) error {
	reply := chat.Reply{Run: "run-1", Outcome: chat.Answered, Text: text, Note: other, Sources: []chat.SourceGroup{{Category: other, Sources: []chat.Source{
		{Numbers: []int{1, 2}, Title: other, Path: other, Owner: other, Modified: chattest.Now, Sections: []chat.Section{{Number: 1, Heading: other, URL: "https://docs.example/" + other}}},
		{Numbers: []int{3}, Title: other, Sections: []chat.Section{{Number: 3, Heading: other, URL: other}}},
	}}}}
	if err := checkPost(chat.Post{Reply: &reply}); err != nil {
		return err
	}
	question := chat.Question{ID: "q", Text: text, FreeText: true, Choices: []chat.Choice{{ID: "1", Label: other, Detail: text}, {ID: "2", Label: text}}}
	if err := checkPost(chat.Post{Question: &question}); err != nil {
		return err
	}
	return checkPost(chat.Post{Question: &question, Answer: other})
}

var live = regexp.MustCompile(`<[@!#]|"type":"(user|broadcast|usergroup|channel)"|"type":"mrkdwn"`)

func checkPost(post chat.Post) error {
	shown, err := renderPost(post, look{})
	if err != nil {
		return err
	}
	var said strings.Builder
	notes := shown.notes
	for _, one := range shown.notes {
		if one.plain != nil {
			notes = append(notes[:len(notes):len(notes)], one.withoutTable())
		}
	}
	for i, one := range notes {
		raw, err := json.Marshal(one.blocks)
		if err != nil {
			return err
		}
		if problems, tooLong := slacktest.CheckMessage(raw); len(problems) > 0 || tooLong {
			return fmt.Errorf("refused: %v, too long: %v, in %s", problems, tooLong, raw)
		}
		if strings.TrimSpace(one.text) == "" || slacktest.Length(one.text) > 4000 {
			return fmt.Errorf("notification %q", one.text)
		}
		if strings.ContainsAny(one.text, "<>") {
			return fmt.Errorf("a notification that is not escaped: %q", one.text)
		}
		// Encoded, "<" is \u003c in all text: only the types are left to match.
		if found := live.Find(raw); found != nil {
			return fmt.Errorf("%s in %s", found, raw)
		}
		if i < len(shown.notes) {
			said.WriteString(saidBy(one.blocks))
		}
	}
	if post.Reply == nil {
		return nil
	}
	if len(shown.files) > 0 {
		if string(shown.files[0].content) != markup.Clean(post.Reply.Text) {
			return fmt.Errorf("the file lacks text")
		}
		return nil
	}
	return missing(*post.Reply, said.String())
}

// saidBy gives the text of blocks, all that is in them in its order.
func saidBy(blocks []slack.Block) string {
	var out strings.Builder
	add := func(elements []slack.RichTextSectionElement) {
		for _, element := range elements {
			switch element := element.(type) {
			case *slack.RichTextSectionTextElement:
				out.WriteString(element.Text)
			case *slack.RichTextSectionLinkElement:
				out.WriteString(element.Text)
			}
		}
	}
	addAll := func(elements []slack.RichTextElement) {
		for _, element := range elements {
			switch element := element.(type) {
			case *slack.RichTextSection:
				add(element.Elements)
			case *slack.RichTextPreformatted:
				add(element.Elements)
			case *slack.RichTextQuote:
				add(element.Elements)
			case *slack.RichTextList:
				for _, item := range element.Elements {
					add(item.(*slack.RichTextSection).Elements)
				}
			}
		}
	}
	for _, block := range blocks {
		switch block := block.(type) {
		case *slack.RichTextBlock:
			addAll(block.Elements)
		case *slack.TableBlock:
			for _, row := range block.Rows {
				for _, cell := range row {
					addAll(cell.(*slack.TableRichTextCell).Elements)
				}
			}
		}
	}
	return out.String()
}

// missing checks that every character which Markdown's own reader finds in a text is
// shown, in its order.
func missing(reply chat.Reply, said string) error {
	root, source := markup.Parse(reply.Text, reply.Sources)
	var wanted strings.Builder
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Text:
			wanted.WriteString(markup.Text(node, source))
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
			for i := range node.Lines().Len() {
				segment := node.Lines().At(i)
				wanted.Write(segment.Value(source))
			}
		case *markup.Citation:
			wanted.WriteString("[" + strconv.Itoa(node.Number) + "]")
		case *ast.AutoLink:
			wanted.Write(node.Label(source))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	shown := []rune(strings.Join(strings.Fields(said), ""))
	at := 0
	for i, r := range []rune(strings.Join(strings.Fields(markup.Clean(wanted.String())), "")) {
		for at < len(shown) && shown[at] != r {
			at++
		}
		if at == len(shown) {
			return fmt.Errorf("%q, character %d, is missing in %q", r, i, said)
		}
		at++
	}
	return nil
}

func FuzzRender(f *testing.F) {
	for _, text := range []string{
		chattest.Answer().Text, chattest.Hostile().Text, chattest.Worldly().Text, chattest.Evil, chattest.Long(4000),
		"<!channel> <@U123> @here", "[a](https://a.example/<!here>)", "> - a\n>   1. b\n> ```\n> c\n> ```", "- \n-\n", "1) x\n\n99999999. y",
		"| a | b |\n|--|--|\n| `x` | [1] |\n", "<div>\n<b>", "![p](https://e.example/p.png)", "<https://a.example>", "# \n\n***", "*a _b **c", "| |\n|-|\n",
		"```\n```", "a\\\nb  \nc", "[](https://a.example)", strings.Repeat("- ", 30) + "deep", strings.Repeat("> ", 20) + "deep",
	} {
		f.Add(text, "Title")
		f.Add("x", text)
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		if err := check(text, other); err != nil {
			t.Error(err)
		}
	})
}
