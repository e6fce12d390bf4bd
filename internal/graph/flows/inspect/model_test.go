package inspect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/inspecttest"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/gate"
	"github.com/cairn-bot/cairn/internal/llm/llmtest"
	"github.com/cairn-bot/cairn/internal/llm/openai"
	"github.com/cairn-bot/cairn/internal/repository"
)

// published opens projects as if they were on a site that is known.
func published(opener *repository.Opener) inspect.Open {
	return func(ctx context.Context, name string) (*repository.Checkout, error) {
		checkout, err := opener.Open(ctx, name)
		if err == nil {
			checkout.Commit, checkout.Web = strings.Repeat("ab", 20), "https://github.com/acme/shop/blob/"+strings.Repeat("ab", 20)+"/"
		}
		return checkout, err
	}
}

type statement struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

type section struct {
	Title      string      `json:"title"`
	Statements []statement `json:"statements"`
}

// TestAModelWordsWhatWasFound keeps what the facts bear out, and leaves out what they don't.
func TestAModelWordsWhatWasFound(t *testing.T) {
	server := llmtest.New(t, llmtest.Value(struct {
		Sections []section `json:"sections"`
	}{[]section{{"Answer", []statement{
		{"A tap goes to the page `Checkout`.", []int{3}},
		{"A tap deletes the table `orders_2019`.", []int{3}},
		{"It was written by nobody.", []int{}},
	}}}}))
	model, err := openai.New(openai.Options{
		BaseURL: server.URL, Key: llm.NewSecret(llmtest.Key), Model: "gpt-4o", Context: 32000, Gate: gate.Options{Retries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	opener := repository.NewOpener(repository.Options{Roots: []string{inspecttest.Write(t, 0)}})
	flow, err := inspect.New(inspect.Options{Open: published(opener), Model: model})
	if err != nil {
		t.Fatal(err)
	}
	outcome := ask(t, flow, flows.Request{Text: "./shop what happens when I tap button2 on Main?"})
	link := "([`Main.variables.js:30`](https://github.com/acme/shop/blob/" + strings.Repeat("ab", 20) + "/src/pages/Main/Main.variables.js#L30))"
	if !strings.Contains(outcome.Text, "of `shop` at `ababab") || !strings.Contains(outcome.Text, "A tap goes to the page `Checkout`. "+link) {
		t.Errorf("%s", outcome.Text)
	}
	if strings.Contains(outcome.Text, "orders_2019") || strings.Contains(outcome.Text, "nobody") || !strings.Contains(outcome.Note, "a language model worded it") {
		t.Errorf("%s\n%s", outcome.Text, outcome.Note)
	}
	for _, line := range strings.Split(outcome.Text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "- ") && !strings.Contains(line, "](https://github.com/acme/shop/blob/") {
			t.Errorf("a statement without a link: %s", line)
		}
	}
}
