package render

import (
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
)

// ChoiceLabel returns what a choice is called: never "".
func ChoiceLabel(choice chat.Choice) string {
	for _, label := range []string{choice.Label, choice.ID} {
		if label = markup.CleanLine(label); label != "" {
			return label
		}
	}
	return "—"
}

// Choices spell out the choices of a question, none where buttons that show label of
// Length tell them whole. Each label and detail is cut to most.
func Choices(choices []chat.Choice, label, most int) []Piece {
	told := true
	var out []Piece
	for i, choice := range choices {
		name, detail := ChoiceLabel(choice), markup.CleanLine(choice.Detail)
		told = told && detail == "" && Length(name) <= label
		runs := []Run{{Text: Cut(name, most), Style: Style{Bold: true}}}
		if detail != "" {
			runs = append(runs, Run{Text: " — " + Cut(detail, most)})
		}
		out = append(out, Piece{Shape: Item, Ordered: true, Number: i + 1, Runs: runs})
	}
	if told {
		return nil
	}
	return out
}

// Answered returns what a question was answered, cut to most of Length, and by whom: by is
// the platform's id of who is mentioned, "" for nobody.
func Answered(post chat.Post, by string, most int) []Run {
	answer := Cut(markup.CleanLine(post.Answer), most)
	for _, choice := range post.Question.Choices {
		if choice.ID == post.Answer {
			answer = Cut(ChoiceLabel(choice), most)
		}
	}
	if answer == "" {
		answer = "…"
	}
	said := Run{Text: answer, Style: Style{Bold: true}}
	if by == "" {
		return []Run{{Text: "→ "}, said}
	}
	return []Run{{User: by}, {Text: ": "}, said}
}
