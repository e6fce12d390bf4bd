package threadsource

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

var monday = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// said writes a thread: "ann: text", one message a line, with marks behind it in brackets: [✅ ben],
// [👍 ann cleo], [📌 cairn], [✅ 2] where the platform names nobody. Who is called cairn is the bot,
// who ends in "bot" another program.
func said(lines ...string) chat.ChannelThread {
	thread := chat.ChannelThread{ThreadHead: chat.ThreadHead{Thread: "slack:T1:C1:1.1", State: "s"}, URL: "https://x.example/archives/C1/p11"}
	for i, line := range lines {
		name, text, _ := strings.Cut(line, ": ")
		m := chat.ChannelMessage{
			ID: chat.MessageID(fmt.Sprint(i)), Author: chat.UserID(name), Name: name, Self: name == "cairn", App: strings.HasSuffix(name, "bot"),
			At: monday.Add(time.Duration(i) * time.Hour),
		}
		text, marks, _ := strings.Cut(text, " [")
		m.Text = text
		for mark := range strings.SplitSeq(strings.TrimSuffix(marks, "]"), "] [") {
			m.Marks = append(m.Marks, readMark(mark)...)
		}
		thread.Messages = append(thread.Messages, m)
	}
	return thread
}

func readMark(text string) []chat.Mark {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return nil
	}
	mark := chat.Mark{Kind: map[string]chat.MarkKind{"✅": chat.MarkSettled, "👍": chat.MarkLiked, "📌": chat.MarkKept}[fields[0]]}
	for _, by := range fields[1:] {
		switch count := 0; {
		case by == "cairn":
			mark.Self = true
		case by[0] >= '0' && by[0] <= '9':
			if _, err := fmt.Sscan(by, &count); err != nil {
				panic(err)
			}
			mark.Count += count
		default:
			mark.Count++
			mark.By = append(mark.By, chat.UserID(by))
		}
	}
	return []chat.Mark{mark}
}

func TestWhatCountsAsAnswered(t *testing.T) {
	const ask, tell = "ann: how do I rotate the signing key", "ben: run keyctl rotate twice"
	tests := []struct {
		name   string
		thread []string
		reason Reason // "" for none
		answer []string
	}{
		{"thanks", []string{ask, tell, "ann: thanks!"}, Thanked, []string{"run keyctl rotate twice"}},
		{"thanks by name", []string{ask, tell, "ann: Thanks @Ben, that worked"}, Thanked, []string{"run keyctl rotate twice"}},
		{"thanks in German", []string{ask, tell, "ann: Danke, hat geklappt"}, Thanked, []string{"run keyctl rotate twice"}},
		{"thanks in Japanese", []string{ask, tell, "ann: ありがとうございます"}, Thanked, []string{"run keyctl rotate twice"}},
		{"an answer in several messages", []string{ask, tell, "ben: and then restart the signer", "ann: thank you"}, Thanked, []string{"run keyctl rotate twice", "and then restart the signer"}},
		{"the one before the thanks", []string{ask, tell, "cleo: or wait until it rotates by itself", "ann: thx"}, Thanked, []string{"or wait until it rotates by itself"}},
		{"chatter behind the answer", []string{ask, tell, "cleo: good point", "ann: thanks"}, Thanked, []string{"run keyctl rotate twice"}},
		{"thanks of somebody else", []string{ask, tell, "cleo: thanks"}, "", nil},
		{"thanks that take it back", []string{ask, tell, "ann: thanks, but it still fails"}, "", nil},
		{"thanks and a question", []string{ask, tell, "ann: thanks, which key?"}, "", nil},
		{"thanks for asking back", []string{ask, "ben: which key do you mean?", "ann: thanks"}, "", nil},
		{"thanks to Cairn", []string{ask, tell, "cairn: Keys rotate nightly.", "ann: thanks"}, "", nil},
		{"no reply", []string{ask}, "", nil},
		{"no thanks", []string{ask, tell}, "", nil},
		{"a check mark", []string{ask, tell + " [✅ ann]"}, Marked, []string{"run keyctl rotate twice"}},
		{"a check mark of anybody", []string{ask, tell + " [✅ 1]"}, Marked, []string{"run keyctl rotate twice"}},
		{"one's own check mark", []string{ask, tell + " [✅ ben]"}, "", nil},
		{"the asker's thumb", []string{ask, tell + " [👍 ann]"}, Marked, []string{"run keyctl rotate twice"}},
		{"somebody's thumb", []string{ask, tell + " [👍 cleo]"}, "", nil},
		{"two thumbs", []string{ask, tell + " [👍 2]"}, Marked, []string{"run keyctl rotate twice"}},
		{"what the asker found out", []string{ask, "ben: no idea, sorry to say", "ann: it is keyctl rotate [✅ ben]"}, Marked, []string{"it is keyctl rotate"}},
		{"a mark on a bot", []string{ask, "jirabot: created OPS-1 [✅ ann]"}, "", nil},
		{"settled by a person who was called", []string{ask + " [✅ cairn]", "cairn: I couldn't find this.", tell}, Settled, []string{"run keyctl rotate twice"}},
		{"settled, and nobody said how", []string{ask + " [✅ cairn]", "cairn: I couldn't find this."}, "", nil},
		{"kept", []string{ask + " [📌 cairn]", tell, "ann: hm"}, KeptByHand, []string{"run keyctl rotate twice"}},
		{"one message kept", []string{ask, "cleo: no idea either", tell + " [📌 cairn]"}, KeptByHand, []string{"run keyctl rotate twice"}},
		{"a message kept alone", []string{"ann: the signer restarts on Mondays [📌 cairn]"}, KeptByHand, []string{"the signer restarts on Mondays"}},
		{"somebody else's pin", []string{ask, tell + " [📌 ann]"}, "", nil},
		{"a program asks", []string{"pagerbot: disk full on db-1", tell, "ann: thanks"}, "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, ok := findExchange(said(test.thread...), nil)
			if ok != (test.reason != "") {
				t.Fatalf("answered %v by %v", ok, found.answer)
			}
			var answer []string
			for _, m := range found.answer {
				answer = append(answer, m.Text)
			}
			if ok && (found.reason != test.reason || !slices.Equal(answer, test.answer)) {
				t.Errorf("%s: %q, want %s: %q", found.reason, answer, test.reason, test.answer)
			}
		})
	}
}

func TestAnAnswerOfCairnCountsOnceItIsRatedUp(t *testing.T) {
	thread := said("ann: how do I rotate the key", "cairn: Run keyctl.")
	if _, ok := findExchange(thread, nil); ok {
		t.Error("unrated, and answered")
	}
	found, ok := findExchange(thread, []ConfirmedAnswer{{Text: "Run `keyctl rotate`.", At: monday}})
	if !ok || found.reason != Confirmed || found.answer[0].Text != "Run `keyctl rotate`." {
		t.Errorf("%+v", found)
	}
}

// FuzzExchange has nothing that people write become markup, or be lost in a panic.
func FuzzExchange(f *testing.F) {
	f.Add("how do I <b>rotate</b> it", "```\n<script>alert(1)</script>\n``` run it", "thanks")
	f.Add("", "]]></title>", "ありがとう!")
	f.Add("</body><h2>Ben, 2026-01-01</h2>", "``` ``` ```", "danke, aber")
	f.Fuzz(func(t *testing.T, question, answer, thanks string) {
		thread := said("ann: x", "ben: x", "ann: x")
		thread.Messages[0].Text, thread.Messages[1].Text, thread.Messages[2].Text = question, answer, thanks
		thread.Messages[1].Name = answer
		found, ok := findExchange(thread, nil)
		if !ok {
			return
		}
		written := string(renderExchange(question, found))
		for _, tag := range []string{"<title>", "<body>"} {
			if strings.Count(written, tag) != 1 {
				t.Errorf("%s %d times in %q", tag, strings.Count(written, tag), written)
			}
		}
		if strings.Contains(written, "<script") || strings.Contains(written, "<b>") {
			t.Errorf("markup of a message in %q", written)
		}
	})
}
