package redis_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/redis/conn/conntest"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/session"
)

// said is a conversation of ordinary length: what was asked, and what was answered.
var said = [][2]string{
	{"how do I roll back a release of the billing API?",
		"Run `deploy rollback billing --to previous` from the release channel [1]. It takes the image that ran before and needs nobody's approval within an hour of the release; " +
			"after that the owner on call has to confirm. Migrations are not undone: if the release changed the schema, follow the section on forward fixes instead [2]. " +
			"The dashboard shows the new version within two minutes, and the incident bot posts a note to #releases so that support knows."},
	{"and who confirms at night?",
		"The engineer on call for payments, by the pager: type `/page payments` and say which release it is about [1]. If there is no answer within ten minutes, the secondary is paged by itself. " +
			"Between 22:00 and 06:00 a rollback of billing needs only one confirmation, not two, according to the runbook that was changed in March [2]."},
	{"does that also go for the EU region?",
		"No. The EU cluster is rolled back on its own, with `--region eu`, since it may run a different version during a staged release [1]. " +
			"Look at the release board first: when the EU column is grey, the release has not reached it and there is nothing to roll back [2]. Data protection asks for an entry in the change log within a working day."},
	{"where is the change log?",
		"It is the sheet “EU changes” in the compliance folder [1]; everyone in engineering may write to it. An entry has the time, the release, the reason and who confirmed. " +
			"Entries older than two years are moved to the archive by the compliance team each January [2]."},
	{"thanks. what if the rollback itself fails?",
		"Stop the pipeline with `deploy hold billing`, so that nothing else is released over it [1]. Then open an incident with severity 2: the incident commander decides between a second attempt and a forward fix. " +
			"A rollback that hangs for more than five minutes is nearly always waiting for a readiness check; the logs of the job `billing-rollback` name the pod [2]. Do not delete pods by hand, the controller would count them as failed."},
}

func ordinary(thread chat.ThreadID) session.Session {
	s := session.Session{Thread: thread, Flow: "answer"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, turn := range said {
		at = at.Add(97 * time.Second)
		id := chat.MessageID(fmt.Sprintf("17724456%02d.0%d9", i*7, i*31))
		s.Add(chat.Turn{Role: chat.Person, Author: "U024BE7LH", Message: id, At: at, Text: turn[0]})
		s.Add(chat.Turn{Role: chat.Bot, Message: id, At: at.Add(3 * time.Second), Reply: &chat.Reply{
			Run: chat.RunID(fmt.Sprintf("run-K7QX4MPLTZ2D9W%02d", i)), Outcome: chat.Answered, Text: turn[1],
			Sources: []chat.SourceGroup{{Category: "Documentation", Sources: []chat.Source{
				{Numbers: []int{1}, Title: "Releases and rollbacks", Path: "runbooks/releases.md", Owner: "platform", Modified: at, State: "live",
					Sections: []chat.Section{{Number: 1, Heading: turn[0], Anchor: "rolling-back", URL: "https://docs.example.com/runbooks/releases#rolling-back"}}},
				{Numbers: []int{2}, Title: "On call", Path: "handbook/on-call.md", Owner: "people", Modified: at, State: "live",
					Sections: []chat.Section{{Number: 2, Heading: "At night", Anchor: "at-night", URL: "https://docs.example.com/handbook/on-call#at-night"}}},
			}}},
		}})
	}
	return s
}

func TestAnIdleSessionIsSmall(t *testing.T) {
	const most = 4096
	client := conntest.Connect(t, servertest.Redis(t))
	saved := ordinary("slack:T024BE7LD:C024BE91L:1772445600.000100")
	save(t, openSessions(t, client, ""), saved)
	plain, err := session.Encode(saved)
	if err != nil {
		t.Fatal(err)
	}
	var used int64
	keys, err := client.Keys(t.Context(), "cairn:{[^*]*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		bytes, err := client.MemoryUsage(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s takes %d bytes", key, bytes)
		used += bytes
	}
	t.Logf("%d turns: %d bytes of JSON, %d bytes in Redis", len(saved.Turns), len(plain), used)
	if len(saved.Turns) != 10 || used > most {
		t.Errorf("%d turns take %d bytes, at most %d are allowed", len(saved.Turns), used, most)
	}
}
