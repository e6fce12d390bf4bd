package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/runs"
)

// socialReplies are the lines that reply to messages which ask the documents nothing.
var socialReplies = map[smalltalk.Kind]phrases.Key{
	smalltalk.Greeting: phrases.Greeting, smalltalk.Thanks: phrases.Thanks, smalltalk.Goodbye: phrases.Goodbye,
	smalltalk.Insult: phrases.Insult, smalltalk.Test: phrases.Test, smalltalk.Gibberish: phrases.Gibberish,
	smalltalk.Joke: phrases.Abilities, smalltalk.Who: phrases.Identity, smalltalk.Can: phrases.Abilities,
	smalltalk.Know: phrases.Knowledge, smalltalk.Use: phrases.Usage,
}

// acknowledged replies to what only acknowledges something, outside of a conversation.
const acknowledged = "👍"

// introducing are the kinds of messages whose reply also tells what the bot knows.
var introducing = []smalltalk.Kind{
	smalltalk.Greeting, smalltalk.Who, smalltalk.Can, smalltalk.Know, smalltalk.Use, smalltalk.Test, smalltalk.Gibberish,
}

const (
	maxExamples    = 3 // questions in a reply
	maxCollections = 4 // named in a reply
)

// Example is something that the documents answer well: a question of theirs, or a term
// that they define.
type Example struct {
	Question string
	Term     string // "" where there is a Question
}

// replySocially replies to a message that asks the documents nothing. What only acknowledges
// something in a conversation gets no reply.
func (t *turn) replySocially(ctx context.Context, message smalltalk.Message) (runs.Result, error) {
	acknowledges := message.Kind == smalltalk.Ack || message.Kind == smalltalk.Emoji
	switch {
	case acknowledges && len(t.conversation.session.Turns)+len(t.job.message.Before) > 0:
		return runs.Result{}, t.delivery.announceDone(happened{}) // dealt with, and nothing is said
	case acknowledges:
		return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Social, Text: acknowledged})
	}
	speaker := phrases.In(language.Tag(message.Language))
	var lines []string
	if message.Kind != smalltalk.Know {
		lines = append(lines, speaker.Text(socialReplies[message.Kind]))
	}
	if slices.Contains(introducing, message.Kind) {
		lines = append(lines, t.bot.describeBot(ctx, message.Language)...)
	}
	if len(lines) == 0 { // it is asked what it knows, and can't say
		lines = append(lines, speaker.Text(phrases.Identity))
	}
	return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Social, Text: strings.Join(lines, "\n\n")})
}

// describeBot tells what the bot knows and what it can be asked, a paragraph each.
func (b *Bot) describeBot(ctx context.Context, tongue string) []string {
	if b.options.Catalog == nil {
		return nil
	}
	collections, err := b.options.Catalog.Collections(ctx)
	if err != nil {
		b.logger.WarnContext(ctx, "collections not listed", "error", err)
		return nil
	}
	total := 0
	var names []string
	for _, collection := range collections {
		total += collection.Documents
		if len(names) < maxCollections {
			names = append(names, shownName(collection.Name))
		}
	}
	if total == 0 {
		return nil
	}
	if len(collections) > len(names) {
		names = append(names, "…")
	}
	speaker := phrases.In(language.Tag(tongue))
	lines := []string{speaker.Text(phrases.Knowledge, speaker.Count(phrases.Documents, total), strings.Join(names, ", "))}
	if examples := b.exampleQuestions(ctx, tongue); len(examples) > 0 {
		lines = append(lines, speaker.Text(phrases.Examples)+"\n- "+strings.Join(examples, "\n- "))
	}
	return lines
}

// exampleQuestions gives questions that the documents answer well.
func (b *Bot) exampleQuestions(ctx context.Context, tongue string) []string {
	if b.options.Examples == nil {
		return nil
	}
	examples, err := b.options.Examples(ctx, tongue, maxExamples)
	if err != nil {
		b.logger.WarnContext(ctx, "example questions not found", "error", err)
		return nil
	}
	var questions []string
	for _, example := range examples {
		if example.Question == "" {
			example.Question = phrases.In(language.Tag(tongue)).Text(phrases.ExampleDefinition, example.Term)
		}
		questions = append(questions, example.Question)
	}
	return questions
}

// repeatQuestion says again what the bot has asked, to somebody who did not understand it.
func (t *turn) repeatQuestion(ctx context.Context, tongue string) (runs.Result, error) {
	question := t.conversation.session.Waiting.Question
	asked := question.Text
	for _, choice := range question.Choices {
		asked += "\n- " + choice.Label
	}
	return t.conclusion.replyWithoutRun(ctx, chat.Reply{Outcome: chat.Noticed, Text: phrases.In(language.Tag(tongue)).Text(phrases.StillWaiting, asked)})
}
