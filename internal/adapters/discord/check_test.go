package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

var (
	liveMention = regexp.MustCompile(`<(@[!&]?|#)\d|<a?:\w+:\d|<t:-?\d|</[\w -]+:\d|<id:\w|@(everyone|here)\b`)
	bareLink    = regexp.MustCompile(`(?i)https?://`)
	// tied are links that are not unfurled, escaped what has a backslash before it.
	tied    = regexp.MustCompile(`<https?://[^<>\s]*>`)
	escaped = regexp.MustCompile(`\\[^A-Za-z0-9\s]`)
)

// check renders an answer and a question with made-up texts, and looks for what Discord
// would refuse, for text that is lost, and for calls that nobody meant.
func check(text, other string) error {
	run := chat.RunID("run-1")
	sources := []chat.SourceGroup{{Category: other, Sources: []chat.Source{
		{Numbers: []int{1}, Title: other, Path: text, Owner: other, Sections: []chat.Section{{Number: 1, Heading: other, URL: "https://docs.example/" + other}}},
		{Numbers: []int{2}, Title: text, Sections: []chat.Section{{Number: 2, Heading: text, URL: "https://docs.example/"}}},
	}}}
	reply := chat.Reply{Run: run, Outcome: chat.Answered, Text: text, Note: other, Sources: sources}
	var problems []error
	for _, how := range []look{{human: true}, {private: true, single: true}} {
		shown, err := renderPost(chat.Post{Reply: &reply}, how)
		if err != nil {
			return err
		}
		problems = append(problems, checkShown(shown), checkText(shown, text, sources))
	}
	question := chat.Question{ID: "q-1", Run: run, Text: text, FreeText: true, Asker: "42", Choices: []chat.Choice{
		{ID: "a", Label: other, Detail: text}, {ID: other, Label: text},
	}}
	for _, post := range []chat.Post{{Question: &question}, {Question: &question, Answer: other, AnsweredBy: "43"}} {
		shown, err := renderPost(post, look{})
		if err != nil {
			return err
		}
		problems = append(problems, checkShown(shown))
	}
	return errors.Join(problems...)
}

// checkShown checks messages against Discord's limits.
func checkShown(shown rendered) error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for i := range shown.notes {
		made, _ := shown.buildMessage(mark{key: "KEY000000000000000000001", index: i, of: len(shown.notes), root: "18446744073709551615", private: true}, false)
		if render.Length(made.Content) > maxContent {
			wrong("%d characters: %s", render.Length(made.Content), made.Content)
		}
		if strings.TrimSpace(strings.ReplaceAll(made.Content, unseen, "")) == "" && len(made.Embeds) == 0 {
			wrong("an empty message")
		}
		total, texts := 0, []string{strings.NewReplacer("<@42> ", "", "<@42>: ", "", "<@43>: ", "").Replace(made.Content)}
		for _, e := range made.Embeds {
			footer := ""
			if e.Footer != nil {
				footer = e.Footer.Text
			}
			if total += render.Length(e.Title + e.Description + footer); render.Length(e.Description) > 4096 || render.Length(e.Title) > 256 || e.Description == "" {
				wrong("an embed of %d characters", render.Length(e.Description))
			}
			texts = append(texts, e.Description, footer)
		}
		if total > 6000 {
			wrong("%d characters in embeds", total)
		}
		for _, text := range texts {
			if !utf8.ValidString(text) {
				wrong("%q is no UTF-8", text)
			}
			outside, whole := withoutCode(text)
			if !whole {
				wrong("a fence is cut: %s", text)
			}
			if found := liveMention.FindString(text); found != "" {
				wrong("a live call %q in %s", found, text)
			}
			if found := bareLink.FindString(outside); found != "" {
				wrong("a bare link %q in %s", found, outside)
			}
		}
		problems = append(problems, checkComponents(made.Components))
		if raw, err := json.Marshal(made); err != nil || !json.Valid(raw) {
			wrong("it can't be encoded: %v", err)
		}
	}
	return errors.Join(problems...)
}

func checkComponents(rows []component) error {
	if len(rows) > 5 {
		return fmt.Errorf("%d rows", len(rows))
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if len(row.Components) == 0 || len(row.Components) > 5 {
			return fmt.Errorf("%d buttons in a row", len(row.Components))
		}
		for _, c := range row.Components {
			if seen[c.CustomID] || render.Length(c.CustomID) > maxCustomID || c.CustomID == "" {
				return fmt.Errorf("the custom id %q", c.CustomID)
			}
			seen[c.CustomID] = true
			if c.Type == buttonType && (c.Label == "" || render.Length(c.Label) > maxLabel) {
				return fmt.Errorf("the label %q", c.Label)
			}
			for _, o := range c.Options {
				if o.Label == "" || render.Length(o.Label) > maxOption || render.Length(o.Value) > maxOption || render.Length(o.Description) > maxOption {
					return fmt.Errorf("the option %+v", o)
				}
			}
		}
	}
	return nil
}

// withoutCode gives text without its fences and spans of code; false where a fence is open.
func withoutCode(text string) (outside string, whole bool) {
	parts := strings.Split(text, "```")
	var out strings.Builder
	for i := 0; i < len(parts); i += 2 {
		text := tied.ReplaceAllString(escaped.ReplaceAllString(parts[i], ""), "")
		out.WriteString(codeSpans.ReplaceAllString(text, ""))
	}
	return out.String(), len(parts)%2 == 1
}

var codeSpans = regexp.MustCompile("``.*?``|`[^`]*`")

// wanted is what a piece says; an address is spelled as links are.
func wanted(p render.Piece) string {
	var out strings.Builder
	for _, r := range p.Runs {
		if r.URL != "" && strings.Join(strings.Fields(r.Text), " ") == r.URL {
			out.WriteString(escapeAddress(r.URL))
		} else {
			out.WriteString(r.Text)
		}
	}
	return out.String()
}

// checkText looks whether all that the answer says is shown, in order.
func checkText(shown rendered, text string, sources []chat.SourceGroup) error {
	if len(shown.files) > 0 {
		if string(shown.files[0].content) != markup.Clean(text) {
			return errors.New("the file is not the answer")
		}
		return nil
	}
	var said strings.Builder
	for _, n := range shown.notes {
		said.WriteString(n.Content)
	}
	rest := []rune(said.String())
	for _, p := range format.Read(text, sources) {
		for _, want := range wanted(p) {
			if unicode.IsSpace(want) || string(want) == unseen {
				continue
			}
			at := -1
			for i, got := range rest {
				if got == want {
					at = i
					break
				}
			}
			if at < 0 {
				return fmt.Errorf("lost from %q on in %q, shown as %s", string(want), render.Plain(p.Runs), said.String())
			}
			rest = rest[at+1:]
		}
	}
	return nil
}
