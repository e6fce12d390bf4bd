package threadsource

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// The words by which people have a thread remembered, or forgotten, without what ends a sentence.
var (
	keepWords = []string{
		"remember this", "remember that", "remember this thread", "remember", "please remember this",
		"merk dir das", "merke dir das", "bitte merk dir das", "souviens-toi de ça", "retiens ça", "recuerda esto", "lembra isto", "lembre disso",
		"ricorda questo", "onthoud dit", "これを覚えて", "覚えて", "覚えておいて", "记住这个", "记住",
	}
	forgetWords = []string{
		"forget this", "forget that", "forget this thread", "please forget this",
		"vergiss das", "vergiss das wieder", "oublie ça", "olvida esto", "esquece isto", "esqueça isso", "dimentica questo", "vergeet dit", "これを忘れて", "忘れて", "忘记这个", "忘掉这个",
	}
)

// IsKeep reports whether a message has the bot remember what was said.
func IsKeep(text string) bool { return slices.Contains(keepWords, bareCommand(text)) }

// IsForget reports whether a message has the bot forget what it was told to remember.
func IsForget(text string) bool { return slices.Contains(forgetWords, bareCommand(text)) }

func bareCommand(text string) string {
	text = strings.ToLower(strings.Trim(text, " \t\r\n\u00A0.!。！"))
	text = strings.TrimSpace(strings.TrimPrefix(text, "/cairn "))
	return strings.ReplaceAll(text, "’", "'")
}

// Kept is what was remembered.
type Kept struct {
	Title string
	Names string // of those whose words are kept
	URL   string
}

var (
	// ErrNoSource is the error for a channel that is no source.
	ErrNoSource = errors.New("the channel is no source")
	// ErrNothing is the error for a thread in which there is nothing to keep.
	ErrNothing = errors.New("nobody said anything there that could be kept")
)

// Describe tells what is kept of a thread once a message of it is, or the thread as a whole for
// message "".
func Describe(ctx context.Context, reader chat.ChannelReader, channel chat.ChannelID, id chat.ThreadID, message chat.MessageID) (Kept, error) {
	thread, err := reader.ReadThread(ctx, channel, id)
	if errors.Is(err, chat.ErrGone) {
		return Kept{}, ErrNothing
	}
	if err != nil {
		return Kept{}, err
	}
	for i := range thread.Messages {
		if m := &thread.Messages[i]; m.ID == message || message == "" && i == 0 {
			m.Marks = append(m.Marks, chat.Mark{Kind: chat.MarkKept, Self: true})
		}
	}
	found, ok := findExchange(thread, nil)
	if !ok || found.reason != KeptByHand {
		return Kept{}, ErrNothing
	}
	title := thread.Title
	if title == "" {
		first := found.answer[0]
		if len(found.question) > 0 {
			first = found.question[0]
		}
		title = firstLine(first.Text)
	}
	return Kept{Title: shorten.Line(title, maxTitle), Names: strings.Join(authorsOf(found), ", "), URL: thread.URL}, nil
}

// ListKept gives the messages of a thread that carry the bot's mark.
func ListKept(ctx context.Context, reader chat.ChannelReader, channel chat.ChannelID, id chat.ThreadID) ([]chat.MessageID, error) {
	thread, err := reader.ReadThread(ctx, channel, id)
	if errors.Is(err, chat.ErrGone) {
		return nil, ErrNothing
	}
	var kept []chat.MessageID
	for _, m := range thread.Messages {
		if hasOwnMark(m, chat.MarkKept) {
			kept = append(kept, m.ID)
		}
	}
	return kept, err
}
