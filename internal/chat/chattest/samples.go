package chattest

import (
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Now is the time that the samples' ages are told from.
var Now = time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)

func daysAgo(days int) time.Time { return Now.AddDate(0, 0, -days) }

// Answer returns a reply with all that an answer may hold: a table, code, a nested list,
// two groups of sources, a near source that is not cited, and a trace.
func Answer() chat.Reply {
	return chat.Reply{
		Run:     "run-7f3a",
		Outcome: chat.Answered,
		Text:    answerText,
		Note:    "Quoted from the documents; no language model wrote this.",
		Sources: []chat.SourceGroup{
			{Category: "Documentation", Sources: []chat.Source{
				{
					Numbers: []int{1, 3}, Title: "Deploying the API", Path: "docs/deploy.md", Owner: "Platform team", Modified: daysAgo(23), State: "live",
					Sections: []chat.Section{
						{Number: 1, Heading: "Rolling back", Anchor: "rolling-back", URL: "https://docs.example.org/deploy.md#rolling-back"},
						{Number: 3, Heading: "Time limits", Anchor: "time-limits", URL: "https://docs.example.org/deploy.md#time-limits"},
					},
				},
				{
					Numbers: []int{2}, Title: "Runbook: failed releases", Path: "docs/runbooks/failed-release.md", Modified: daysAgo(1), State: "changed",
					Sections: []chat.Section{{Number: 2, Heading: "Who to tell", Anchor: "who-to-tell", URL: "file:///srv/docs/runbooks/failed-release.md#who-to-tell"}},
				},
			}},
			{Category: "Conversations", Sources: []chat.Source{
				{
					Numbers: []int{4}, Title: "#releases, 2 March", Modified: daysAgo(12), State: "live",
					Sections: []chat.Section{{Number: 4, URL: "https://chat.example.org/archives/C1/p1772445600"}},
				},
				{Title: "#oncall, 9 February", Modified: daysAgo(33), State: "live", Sections: []chat.Section{{URL: "https://chat.example.org/archives/C2/p1770631200"}}},
			}},
		},
		Trace: answerTrace(),
	}
}

const answerText = `A release is rolled back with **one command**; it takes the last good image and waits until every pod is ready [1].

` + "```sh\ncairnctl rollback api --to previous --wait\ncairnctl status api\n```" + `

Before you do:

1. Tell the channel that you are about to roll back [2].
   - Name the release and the **symptom**.
   - On weekends, page the person on call as well [2][4].
2. Check that no migration is running:
   - ` + "`cairnctl migrations`" + ` prints nothing when none is.

| Environment | Limit | Who may |
|:--|--:|:--|
| staging | 5 min | everyone |
| production | 15 min | release managers [3] |

> A rollback never undoes a migration [1].
`

func answerTrace() chat.Trace {
	const ms = time.Millisecond
	return chat.Trace{
		Flow: "answer",
		Steps: []chat.TraceStep{
			{Node: "query_understanding", Status: chat.Completed, Took: 2 * ms},
			{Node: "strategy_decision", Status: chat.Completed, Took: 300 * time.Microsecond},
			{Node: "parallel_processing", Status: chat.Failed, Took: 3 * ms},
			{Node: "parallel_processing", Status: chat.Completed, Took: 21 * ms},
			{Node: "response_generation", Status: chat.Completed, Took: 6 * ms},
		},
		Queries: []chat.TraceQuery{
			{Text: "how do I roll back a release", Used: []string{"roll", "back", "release"}, Pruned: []string{"how", "do"}, Lexical: 48, Dense: 40, Took: 14 * ms},
		},
		Evidence: []chat.TraceEvidence{
			{Passage: "docs/deploy.md#4", Title: "Deploying the API", Section: "Rolling back", Score: .93, Lexical: 14.2, Dense: .81, Kept: true},
			{Passage: "docs/runbooks/failed-release.md#1", Title: "Runbook: failed releases", Section: "Who to tell", Score: .71, Lexical: 9.8, Dense: .66, Kept: true},
			{Passage: "docs/faq.md#9", Title: "FAQ", Section: "Can I roll forward?", Score: .38, Lexical: 4.1, Dense: .59},
		},
		Agents: []chat.TraceAgent{
			{Name: "HybridSearch", Requests: 3, Failures: 1, Took: 18 * ms},
			{Name: "AnswerGeneration", Requests: 1, Took: 1200 * ms},
		},
		Models: []chat.TraceModel{
			{Role: "understand", Model: "small-1", Took: 5 * time.Second, Failure: "no answer within 5s"},
			{Role: "answer", Model: "large-2", Prompt: 1830, Completion: 212, Cost: 0.0041, Took: 1200 * ms, FirstToken: 240 * ms},
		},
		Inputs: []chat.TraceInput{
			{Name: "coverage", Value: .82, Limit: .5},
			{Name: "readings", Value: 1, Limit: 2, Decided: true},
		},
		Notes: []string{"parallel: one question, no comparison", "“and” did not split the question"},
		Took:  31 * ms,
	}
}

// Analysis returns a reply with three documents, of which the last is not kept any more.
func Analysis() chat.Reply {
	documents := Documents(
		"release_risks_analysis.md", "# Release risks\n\nTwo systems have no owner.\n",
		"Обзор рисков.md", Long(20_000), "context.md", Long(90_000),
	)
	documents[2].Content = nil
	return chat.Reply{
		Run: "run-7f3f", Outcome: chat.Answered, Text: "Two systems have **no owner**; the analysis names who could take them over.",
		Documents: documents,
	}
}

// Abstained returns a reply that says the documents do not tell.
func Abstained() chat.Reply {
	return chat.Reply{
		Run: "run-7f3b", Outcome: chat.Abstained,
		Text: "The documents do not say who owns the billing dashboard. The nearest pages are below.",
		Sources: []chat.SourceGroup{{Category: "Documentation", Sources: []chat.Source{
			{Title: "Dashboards", Path: "docs/dashboards.md", Modified: daysAgo(400), State: "live", Sections: []chat.Section{{Heading: "Owners", Anchor: "owners"}}},
		}}},
	}
}

// Failed returns a failure line.
func Failed() chat.Reply {
	return chat.Reply{
		Run: "run-7f3c", Outcome: chat.Failure, Text: "The index could not be read. Try again, or tell an operator the run’s id.",
		Trace: chat.Trace{Flow: "answer", Took: 12 * time.Millisecond, Steps: []chat.TraceStep{
			{Node: "query_understanding", Status: chat.Completed, Took: 2 * time.Millisecond},
			{Node: "parallel_processing", Status: chat.Failed, Took: 10 * time.Millisecond},
		}},
	}
}

// Question returns a question with four choices.
func Question() chat.Question {
	return chat.Question{
		ID: "question-1", Run: "run-7f3d", FreeText: true,
		Text: "Which **rollback** do you mean?",
		Choices: []chat.Choice{
			{ID: "api", Label: "The API", Detail: "docs/deploy.md"},
			{ID: "database", Label: "A database migration", Detail: "docs/migrations.md"},
			{ID: "app", Label: "The mobile app", Detail: "docs/mobile/releases.md"},
			{ID: "infra", Label: "Infrastructure (Terraform)"},
		},
	}
}

// Steps returns the progress of a run from its first step to its last.
func Steps() []chat.Progress {
	const run = "run-7f3a"
	return []chat.Progress{
		{Run: run, Step: "query_understanding", Description: "Understanding the question", Status: chat.Running},
		{Run: run, Step: "query_understanding", Description: "Understanding the question", Status: chat.Completed, Took: 2 * time.Millisecond},
		{Run: run, Step: "clarify", Description: "Clarifying", Status: chat.Skipped},
		{Run: run, Step: "parallel_processing", Description: "Searching 3 collections", Status: chat.Running},
		{Run: run, Step: "parallel_processing", Description: "Searching 3 collections", Status: chat.Completed, Took: 21 * time.Millisecond},
		{Run: run, Step: "response_generation", Description: "Writing the answer", Status: chat.Running},
		{Run: run, Step: "response_generation", Description: "Writing the answer", Status: chat.Completed, Took: 1500 * time.Millisecond},
	}
}

// Evil is text that tries what text can try against a page or a terminal: markup,
// script addresses, escape sequences, hyperlinks and titles set by them, bidi
// overrides, broken UTF-8.
const Evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><b>bold</b> " +
	"[click](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) ![pixel](https://evil.example/p.png) " +
	"][1][1](javascript:alert(1)) [1]: https://evil.example <javascript:alert(1)> " +
	"\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\ \x1b[2J\x1b]0;title\x07\x9b31m\r\b\x00 " +
	"\u202Egnp.exe\u202C \u2066x\u2069 \U000E0041 \xff\xfe {{.}} ${x} </textarea></details>"

// Hostile returns a reply with Evil in every text.
func Hostile() chat.Reply {
	return chat.Reply{
		Run: Evil, Outcome: chat.Answered, Text: "Quoted: " + Evil + "\n\n" + Evil + "\n\n[1]: https://evil.example\n\n<div onclick=alert(1)>\n\n[1] [2] [99]\n\n```" + Evil + "\n" + Evil + "\n```", Note: Evil,
		Sources: []chat.SourceGroup{{Category: Evil, Sources: []chat.Source{{
			Numbers: []int{1, 2}, Title: Evil, Path: Evil, Owner: Evil, Modified: daysAgo(1), State: Evil,
			Sections: []chat.Section{{Number: 1, Heading: Evil, Anchor: Evil, URL: "javascript:alert(1)"}, {Number: 2, Heading: Evil, URL: Evil}},
		}}}},
		Trace: chat.Trace{
			Flow:     Evil,
			Steps:    []chat.TraceStep{{Node: Evil, Status: Evil}},
			Queries:  []chat.TraceQuery{{Text: Evil, Used: []string{Evil}, Pruned: []string{Evil}}},
			Evidence: []chat.TraceEvidence{{Passage: Evil, Title: Evil, Section: Evil}},
			Agents:   []chat.TraceAgent{{Name: Evil, Requests: 1}},
			Models:   []chat.TraceModel{{Role: Evil, Model: Evil, Failure: Evil}},
			Inputs:   []chat.TraceInput{{Name: Evil}},
			Notes:    []string{Evil},
		},
	}
}

// HostileQuestion returns a question with Evil in every text.
func HostileQuestion() chat.Question {
	return chat.Question{ID: Evil, Run: Evil, Text: Evil, FreeText: true, Choices: []chat.Choice{{ID: Evil, Label: Evil, Detail: Evil}}}
}

// Worldly returns a reply in scripts that are wide, joined, or run from right to left.
func Worldly() chat.Reply {
	return chat.Reply{
		Run: "run-7f3e", Outcome: chat.Answered,
		Text: "回滚只需要一个命令，它会使用上一个正常的镜像，并等待所有的容器就绪。在生产环境中，时间限制是十五分钟 [1]。\n\n" +
			"لإلغاء الإصدار نفّذ الأمر `rollback` ثم انتظر [1].\n\n" +
			"👩‍👩‍👧‍👦 नमस्ते, שלום, Ελληνικά 🏳️‍🌈 [1]\n\n| 环境 | 时间 |\n|--|--|\n| 生产 | 十五分钟 |",
		Sources: []chat.SourceGroup{{Category: "Documentation", Sources: []chat.Source{
			{Numbers: []int{1}, Title: "部署手册", Path: "docs/部署.md", Modified: daysAgo(2), State: "live", Sections: []chat.Section{{Number: 1, Heading: "回滚", Anchor: "回滚"}}},
		}}},
	}
}

// Long is text of n characters in words.
func Long(n int) string {
	const word = "lorem ipsum dolor sit amet "
	return strings.Repeat(word, n/len(word)+1)[:n]
}
