package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/language/smalltalk"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/threadsource"
)

// sideCommandJob is a command that is answered beside what its thread does. It is in a lane of
// its own (runs.LaneCommands), so that nothing which works holds it up, and is answered once like
// any other. What is said to it is no part of the thread's session.
const sideCommandJob runs.Kind = "aside"

// isSideCommand tells whether a message is a command that is answered beside the thread's work.
// A word that the waiting question offers is an answer.
func (b *Bot) isSideCommand(ctx context.Context, message chat.Message) (bool, error) {
	asked := commandOf(message.Text)
	if _, _, ok := asked.pin(); ok && message.Answers == nil || threadsource.IsKeep(message.Text) && message.Answers == nil {
		return true, nil
	}
	if message.Answers != nil || !asked.isAside() && !threadsource.IsForget(message.Text) {
		return false, nil
	}
	if asked.slashed {
		return true, nil
	}
	remembered, err := b.sessions.Load(ctx, message.Thread)
	if err != nil || remembered.Waiting == nil {
		return err == nil, err
	}
	if threadsource.IsForget(message.Text) { // it may be the question that is to be forgotten
		return false, nil
	}
	answer := answerTo(remembered.Waiting.Question, strings.TrimSpace(message.Text))
	return answer.choice == "", nil
}

// runCommand answers the command.
func (t *turn) runCommand(ctx context.Context) (runs.Result, error) {
	text, err := sideCommand{t.bot, t.job.message}.answerText(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	t.conversation.recordReply(t.job.message.ID, chat.Reply{Outcome: chat.Noticed, Text: text})
	return t.conclusion.commitAndShow(ctx, runs.Result{})
}

// sideCommand answers a command beside what its thread does.
type sideCommand struct {
	bot     *Bot
	message chat.Message
}

func (s sideCommand) answerText(ctx context.Context) (string, error) {
	if keep := threadsource.IsKeep(s.message.Text); keep || threadsource.IsForget(s.message.Text) {
		return s.keepThread(ctx, keep)
	}
	asked := commandOf(s.message.Text)
	if action, run, ok := asked.pin(); ok {
		return s.changePin(ctx, action, run)
	}
	switch strings.TrimRight(asked.word, ".!") {
	case helpWord:
		return s.describeHelp(ctx), nil
	case statusWord:
		return s.describeWork(ctx)
	case sourcesWord:
		return s.listSources(ctx), nil
	}
	return fmt.Sprintf("There is no command %s.\n\n%s", shownName(asked.word), listCommands(s.bot.flows)), nil
}

// flowHelp says what flows are for, in the order in which people are told.
var flowHelp = []struct{ flow, says string }{
	{routing.Analyze, "`analyze` and what you want to know: analyses the files of your message, or a collection as in `analyze @handbook what are the risks?`, and asks you before it is done"},
	{routing.Context, "`context` and a name: an overview of that, from your files or a collection"},
	{routing.Repo, "`repo` and an address or a question: a report on a repository"},
	{routing.Echo, "`echo` and a text: gives the text back, as a proof that I am here"},
	{routing.Page, "`page` and `new`, `open`, `list`, `show`, `append`, `replace`, `title`, `history`, `restore`, `undo`, `thread`, `close` or `delete`: pages that we write together; `page help` explains them"},
}

// listCommands are those that there are, a line each.
func listCommands(registered map[string]flows.Flow) string {
	lines := []string{
		"`help`: this",
		"`ask` and a question: the same as the question alone",
		"`status`: what works or waits in this thread, and the scores of its last runs",
		"`sources`: the collections that I know, and how fresh they are",
		"`stop`: ends what works or waits in this thread",
		"`remember this` and `forget this`: in a thread of a channel that is a source, what people said there",
	}
	for _, line := range flowHelp {
		if registered[line.flow] != nil {
			lines = append(lines, line.says)
		}
	}
	return "Commands, behind `/cairn` or behind a mention of me:\n\n- " + strings.Join(lines, "\n- ")
}

// describeWork tells what works or waits in the thread.
func (s sideCommand) describeWork(ctx context.Context) (string, error) {
	thread := s.message.Thread
	state, err := s.bot.store.State(ctx, thread)
	if err != nil {
		return "", err
	}
	remembered, err := s.bot.sessions.Load(ctx, thread)
	if err != nil {
		return "", err
	}
	var said []string
	if state.Queued > 0 && startsRun(state.Head.Kind) {
		run := state.Head.Run
		if work := remembered.Work; work != nil && work.Event == state.Head.Event && work.Run != "" {
			run = work.Run
		}
		doing := "Run `%s` waits for a worker, since %s."
		if state.Busy() {
			doing = "Run `%s` works, since %s."
		}
		since, err := s.describeSince(ctx, run, runs.Running, state.Head.Enqueued)
		if err != nil {
			return "", err
		}
		said = append(said, fmt.Sprintf(doing, run, since))
	}
	if waiting := remembered.Waiting; waiting != nil {
		since, err := s.describeSince(ctx, waiting.Run, runs.Waiting, remembered.Updated)
		if err != nil {
			return "", err
		}
		said = append(said, fmt.Sprintf("Run `%s` waits for an answer, since %s.", waiting.Run, since))
	}
	if len(said) == 0 {
		said = append(said, "Nothing works or waits in this thread.")
	} else if behind := state.Queued - 1; behind > 0 {
		said = append(said, fmt.Sprintf("Messages behind that: %d.", behind))
	}
	if scores := describeScores(remembered.Evaluations); scores != "" {
		said = append(said, scores)
	}
	return strings.Join(said, "\n\n"), nil
}

// describeSince tells since when a run has a status, or came, where it has none yet.
func (s sideCommand) describeSince(ctx context.Context, run chat.RunID, status runs.Status, came time.Time) (string, error) {
	record, err := s.bot.records.Load(ctx, run)
	if err != nil && !errors.Is(err, chat.ErrUnknownRun) {
		return "", err
	}
	for _, transition := range slices.Backward(record.Transitions) {
		if transition.To == status {
			came = transition.At
			break
		}
	}
	return fmt.Sprintf("%s UTC (%s)", came.UTC().Format("15:04:05"), markup.Age(s.bot.now(), came)), nil
}

// maxListed is how many collections are listed.
const maxListed = 50

// listSources lists what the bot knows.
func (s sideCommand) listSources(ctx context.Context) string {
	if s.bot.options.Catalog == nil {
		return "There is no list of collections here."
	}
	decision := s.bot.documents.resolveAccess(ctx, s.message.Thread, s.message.Author, s.message.Asker)
	known, err := s.bot.options.Catalog.Collections(knowledge.WithViewers(ctx, decision.Here))
	if err != nil {
		s.bot.logger.ErrorContext(ctx, "the collections can't be listed", "error", err)
		return "The collections can't be listed at the moment. The log has the cause."
	}
	if asked := s.message.Collections; len(asked) > 0 {
		known = slices.DeleteFunc(known, func(c chat.Collection) bool { return !slices.Contains(asked, c.Name) })
	}
	if len(known) == 0 {
		return "I know no documents yet."
	}
	var b strings.Builder
	b.WriteString("I know these collections:\n")
	for _, collection := range known[:min(len(known), maxListed)] {
		fmt.Fprintf(&b, "\n- %s: %s", shownName(collection.Name), countNoun(collection.Documents, "document"))
		if !collection.Updated.IsZero() {
			fmt.Fprintf(&b, ", brought up to date %s", markup.Age(s.bot.now(), collection.Updated))
		}
	}
	if more := len(known) - maxListed; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return b.String()
}

func countNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// describeHelp tells how the bot is asked, what it knows and, last, which commands there are.
func (s sideCommand) describeHelp(ctx context.Context) string {
	paragraphs := append([]string{phrases.In(language.English).Text(phrases.Help)}, s.bot.describeBot(ctx, smalltalk.English)...)
	return strings.Join(append(paragraphs, listCommands(s.bot.flows)), "\n\n")
}
