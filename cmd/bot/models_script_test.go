package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cairn-bot/cairn/internal/llm/llmtest"
)

// modelCommands are the commands by which scripts have a language model.
var modelCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"llm":    startModel,
	"expand": expandFiles,
}

// startModel starts a scripted server that ends with the script, and says in $LLM_URL,
// $LLM_AZURE_URL and $LLM_KEY where it is. Its arguments name what it does when it is asked for an
// answer, one for each time, and the last again and again; see behaviour.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: llm BEHAVIOUR...")
	}
	server, err := llmtest.Start()
	ts.Check(err)
	ts.Defer(func() { ts.Check(server.Close()) })
	server.On(llmtest.Schema("understand"), llmtest.By(understood))
	server.On(llmtest.Schema("verify"), llmtest.By(judged))
	steps := make([]llmtest.Step, len(args))
	for i, name := range args {
		step, ok := behaviours[name]
		if !ok {
			ts.Fatalf("llm: no behaviour is called %q", name)
		}
		steps[i] = step
	}
	server.On(llmtest.Any, steps...)
	ts.Setenv("LLM_URL", server.URL)
	ts.Setenv("LLM_AZURE_URL", server.AzureURL)
	ts.Setenv("LLM_KEY", llmtest.Key)
}

// behaviours are what a scripted server does, by the name that scripts call it.
var behaviours = map[string]llmtest.Step{
	"answers": llmtest.By(func(r llmtest.Request) llmtest.Step {
		return written(r, "You get ", "28 days", " of leave", " a year%s.")
	}),
	"invents": llmtest.By(func(r llmtest.Request) llmtest.Step {
		return written(r, "You get 28 days of leave a year%[1]s. ", "The office cat is called Mungo%[1]s.")
	}),
	"made-up": llmtest.Text("The office cat ", "is called Mungo."),
	"links": llmtest.By(func(r llmtest.Request) llmtest.Step {
		return written(r, "You get 28 days of leave a year, see [the wiki](https://wiki.example.com/leave) and [more](https://evil.example/)%s.")
	}),
	"hangs":    llmtest.Hang(),
	"stalls":   llmtest.Text("You get ", "28 days").HangAfter(1),
	"cuts":     llmtest.Text("You get ", "28 days").CutAfter(1),
	"busy":     llmtest.Busy(time.Minute),
	"breaks":   llmtest.Fail(500, "server_error", "The server had an error"),
	"refuses":  llmtest.Refusal("I can't help with that."),
	"knows-no": llmtest.Text("NOT_IN_SOURCES"),
	"ready":    llmtest.Text("ready"),
}

var (
	sourceTag    = regexp.MustCompile(`(?s)<source n="(\d+)">(.*?)</source>`)
	statementTag = regexp.MustCompile(`(?s)<statement n=.*?</statement>`)
	questionTag  = regexp.MustCompile(`(?s)<question>\n(.*?)\n</question>`)
)

// written is an answer that cites the source which tells how much leave there is, by the
// number that it has in the prompt. The tokens hold %s where that stands.
func written(r llmtest.Request, tokens ...string) llmtest.Step {
	for _, source := range sourceTag.FindAllStringSubmatch(r.User(), -1) {
		if !strings.Contains(source[2], "28 days of leave") {
			continue
		}
		cited := make([]string, len(tokens))
		for i, token := range tokens {
			cited[i] = token
			if strings.Contains(token, "%") {
				cited[i] = fmt.Sprintf(token, " ["+source[1]+"]")
			}
		}
		return llmtest.Text(cited...).Usage(1200, 30)
	}
	return llmtest.Fail(500, "", "script: no source tells how much leave there is")
}

// judged says of each statement that the source holds it, but for what is invented.
func judged(r llmtest.Request) llmtest.Step {
	type verdict struct {
		Statement int    `json:"statement"`
		Support   string `json:"support"`
	}
	type reply struct {
		Verdicts []verdict `json:"verdicts"`
	}
	var told reply
	for i, statement := range statementTag.FindAllString(r.User(), -1) {
		given := verdict{i + 1, "full"}
		if strings.Contains(statement, "Mungo") {
			given.Support = "none"
		}
		told.Verdicts = append(told.Verdicts, given)
	}
	return llmtest.Value(told).Usage(300, 20)
}

// understood is an understanding that leaves the question as it is.
func understood(r llmtest.Request) llmtest.Step {
	question := questionTag.FindStringSubmatch(r.User())
	if question == nil {
		return llmtest.Fail(500, "", "script: there is no question")
	}
	type reply struct {
		Question string   `json:"question"`
		Intent   string   `json:"intent"`
		Searches []string `json:"searches"`
		Relation string   `json:"relation"`
		Keywords []string `json:"keywords"`
		Unclear  string   `json:"unclear"`
		Choices  []string `json:"choices"`
	}
	return llmtest.Value(reply{
		Question: question[1], Intent: "lookup", Searches: []string{question[1]}, Relation: "one", Keywords: []string{"holiday"}, Choices: []string{},
	}).Usage(400, 50)
}

// expandFiles puts the script's environment into files: ${NAME} stands for a variable.
func expandFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand FILE...")
	}
	for _, file := range args {
		text := os.Expand(ts.ReadFile(file), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}
