package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/routing"
	"github.com/cairn-bot/cairn/internal/phrases"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of the files that come with a message.
const (
	maxFile     = 8 << 20  // bytes of one
	maxAllFiles = 20 << 20 // bytes of all
	maxFileName = 80       // letters of a name, as people are shown it

	// fileTime is how long a file may take to be fetched and read.
	fileTime = 30 * time.Second
	// maxFetches is how often a job is taken up to wait until a platform gives a file.
	maxFetches = 3
)

// room is how many letters of files a flow is given: of one, and of all.
type room struct{ one, all int }

// Files are a part of most requests; to flows that read documents they are what it is about.
var (
	besideRequest = room{40_000, 80_000}
	asDocuments   = room{400_000, 800_000}
)

// readsDocuments tells the flows that are about documents, or about what was recorded of an app.
func readsDocuments(flow string) bool {
	return flow == routing.Analyze || flow == routing.Context || flow == routing.Inspect
}

// readFiles reads the files that a run of a flow is about (filesFor). What can't be read is
// named in the note of the reply. A person who stops the job stops the reading.
func (r *flowRun) readFiles(held context.Context, flow string) error {
	reader := &fileReader{job: r.job, parse: r.parseFile, speaker: r.conversation.choosePhrases(), room: besideRequest}
	if readsDocuments(flow) {
		reader.room = asDocuments
	}
	files := r.filesFor(held, flow)
	if len(r.job.message.Files) == 0 && flow == r.first {
		reader.attachMade(r.conversation.session.Turns)
	}
	for i, file := range files {
		if i == chat.MaxFiles {
			reader.noteUnread(fmt.Sprintf("%d more", len(files)-i), "too many")
			break
		}
		if err := reader.readFile(held, file); err != nil {
			return err
		}
	}
	r.attached = reader.attached
	r.conversation.note = joinNotes(r.conversation.note, reader.summarizeUnread())
	return nil
}

// fetcherOf gives who fetches the files of an adapter's threads; nil where nobody does.
func (o Options) fetcherOf(adapter string) chat.Fetcher {
	if fetcher, ok := o.Adapters[adapter].(chat.Fetcher); ok {
		return fetcher
	}
	return o.Files[adapter]
}

// threadFiles gives the files of the thread, the latest first: those that the platform
// finds, and those of what was said to the bot. With made they are also what was made of them
// before: an overview may rest on an analysis.
func (r *flowRun) threadFiles(ctx context.Context, made bool) []chat.File {
	var files []chat.File
	if finder, ok := r.job.files.(chat.FileFinder); ok {
		ctx, done := context.WithTimeout(ctx, fileTime)
		defer done()
		var err error
		if files, err = finder.Files(ctx, r.job.message.Thread, made); err != nil {
			r.job.logger.WarnContext(ctx, "the files of a thread were not looked for", "thread", string(r.job.message.Thread), "error", err)
		}
	}
	for _, file := range filesOf(r.conversation.session.Turns) {
		if !slices.ContainsFunc(files, func(found chat.File) bool { return found.ID == file.ID }) {
			files = append(files, file)
		}
	}
	return files
}

// filesOf gives the files of a thread's turns, the latest first, each once.
func filesOf(turns []chat.Turn) []chat.File {
	var files []chat.File
	for _, turn := range slices.Backward(turns) {
		for _, file := range turn.Files {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// readFilesAgain reads the files of a run that has no checkpoint to hold them. The note
// names what can't be read since they were read first.
func (r *flowRun) readFilesAgain(ctx context.Context) ([]flows.Attachment, error) {
	if r.attached != nil || r.job.record.Message != r.job.entry.Message.ID {
		return r.attached, nil
	}
	if at := personTurn(r.conversation.session.Turns, r.job.message.ID); at >= 0 && len(r.job.message.Files) == 0 {
		r.job.message.Files = r.conversation.session.Turns[at].Files // they came after the message did
	}
	note := r.conversation.note
	err := r.readFiles(ctx, r.job.record.Flow)
	r.conversation.note = note
	return r.attached, err
}

// fileParser gives the text of a file, as Options.ReadFile does.
type fileParser func(ctx context.Context, name string, content []byte) (text string, err error)

// fileReader reads one file after another, within the bounds.
type fileReader struct {
	job     *job
	parse   fileParser // nil: no file is read
	speaker phrases.Speaker
	room    room

	attached  []flows.Attachment
	bytes     int64
	letters   int
	skipped   []string
	shortened []string
	// unreadable are names of files without a text that can be read, such as pictures.
	unreadable []string
}

func (r *fileReader) noteUnread(name, reason string) {
	r.skipped = append(r.skipped, fmt.Sprintf("%s (%s)", name, reason))
}

// readFile reads a file, or notes why it can't be read. An error means that the job is to be
// tried again.
func (r *fileReader) readFile(held context.Context, file chat.File) error {
	name := shownName(file.Name)
	switch {
	case held.Err() != nil:
		return nil // whoever goes on with the job sees why
	case r.job.files == nil || r.parse == nil:
		r.noteUnread(name, "files can't be read here")
		return nil
	case file.Size > maxFile:
		r.noteUnread(name, fmt.Sprintf("larger than %d MB", maxFile>>20))
		return nil
	case r.bytes+file.Size > maxAllFiles || r.letters >= r.room.all:
		r.noteUnread(name, "too much together with the others")
		return nil
	}
	ctx, done := context.WithTimeout(held, fileTime)
	defer done()
	content, err := r.job.files.Fetch(ctx, r.job.message.Thread, file, maxFile)
	if err != nil {
		return r.notFetched(ctx, file, err)
	}
	r.bytes += int64(len(content))
	text, err := r.parse(ctx, file.Name, content)
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); err != nil || text == "" {
		r.unreadable = append(r.unreadable, name)
		return nil
	}
	r.attachText(name, file.Name, text)
	return nil
}

func (r *fileReader) notFetched(ctx context.Context, file chat.File, err error) error {
	wait, limited := errors.AsType[*chat.RetryAfterError](err)
	switch {
	case limited && r.job.entry.Attempt < maxFetches:
		return &platformError{after: wait.After, reason: "a file could not be fetched", err: err}
	case errors.Is(err, chat.ErrGone):
		r.noteUnread(shownName(file.Name), "it is gone")
		return nil
	}
	r.job.logger.WarnContext(ctx, "a file was not fetched", "thread", string(r.job.message.Thread), "file", file.ID, "error", err)
	r.noteUnread(shownName(file.Name), "it could not be fetched")
	return nil
}

func (r *fileReader) attachText(shown, name, text string) {
	left := min(r.room.one, r.room.all-r.letters)
	whole := len(text)
	text = shorten.Head(text, left)
	if len(text) < whole {
		r.shortened = append(r.shortened, fmt.Sprintf("the first %d letters of %s", left, shown))
	}
	r.letters += len([]rune(text))
	r.attached = append(r.attached, flows.Attachment{Name: shorten.Head(strings.Join(strings.Fields(name), " "), maxFileName), Text: text})
}

// attachMade attaches the documents that runs made in the thread and that no platform keeps.
func (r *fileReader) attachMade(turns []chat.Turn) {
	for _, turn := range turns {
		if turn.Reply == nil {
			continue
		}
		for _, document := range turn.Reply.Documents {
			if document.Kept() && strings.HasPrefix(document.MediaType, "text/") && r.letters < r.room.all {
				r.attachText(shownName(document.Name), document.Name, string(document.Content))
			}
		}
	}
}

// summarizeUnread is what people are told of the reading, "" where all was read.
func (r *fileReader) summarizeUnread() string {
	var said []string
	if len(r.shortened) > 0 {
		said = append(said, "I read "+strings.Join(r.shortened, ", ")+".")
	}
	if len(r.skipped) > 0 {
		said = append(said, "I did not read "+strings.Join(r.skipped, ", ")+".")
	}
	if len(r.unreadable) > 0 {
		said = append(said, r.speaker.Text(phrases.UnreadableFile, strings.Join(r.unreadable, ", ")))
	}
	return strings.Join(said, " ")
}

// shownName makes a file's name fit for Markdown: it stands in code marks, which nothing
// in it ends.
func shownName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '`' || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if clean = shorten.Head(strings.TrimSpace(clean), maxFileName); clean == "" {
		return "a file without a name"
	}
	return "`" + clean + "`"
}
