package bot

import (
	"log/slog"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/store"
)

// job is the state of one job that a worker deals with: what it is about, and the run that it
// starts or goes on with. The other parts of a turn share it.
type job struct {
	lease   runs.Lease
	entry   runs.Job // as it is in the queue; Run is another one once the message was edited
	journal store.Journal
	poster  chat.Poster  // of the thread's adapter; nil where that reads
	files   chat.Fetcher // of the thread; nil where there are none

	message chat.Message // that the job is about; its ID is where the bot's turn belongs
	record  runs.Record  // of the run that the job starts or goes on with
	start   runStart     // the commit that the run began, which may be put off
	begun   bool         // the job was looked at
	again   bool         // the session knows the job: it was taken up before

	stopping <-chan struct{} // closed when the worker is to end
	logger   *slog.Logger
	now      func() time.Time
}

// newJob is the job of a lease.
func (w *worker) newJob(lease runs.Lease) *job {
	return &job{
		lease: lease, entry: lease.Job, journal: w.bot.store.Journal(lease), message: lease.Job.Message, start: newRunStart(),
		stopping: w.stopping, logger: w.bot.logger, now: w.bot.now,
	}
}

// restart is the job from its beginning, as it is in the queue. What changed in the thread since it was
// claimed is looked at.
func (j *job) restart() *job {
	lease := j.lease
	lease.Behind, lease.SessionUnread = true, true
	return &job{
		lease: lease, entry: j.entry, journal: j.journal, poster: j.poster, files: j.files, message: j.entry.Message, start: newRunStart(),
		begun: true, stopping: j.stopping, logger: j.logger, now: j.now,
	}
}

// newRecord is the record of a run that the message starts.
func (j *job) newRecord(run chat.RunID, flow, request string) runs.Record {
	record := runs.Record{
		ID: run, Thread: j.message.Thread, Flow: flow, Author: j.message.Author, Message: j.message.ID,
		Request: request, Depth: j.message.Depth, Collections: j.message.Collections, Asker: j.message.Asker,
	}
	record.Move(runs.Queued, j.entry.Enqueued, "its message came")
	return record
}
