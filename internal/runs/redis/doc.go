// Package redis keeps queues, leases, checkpoints, events, outboxes and records of runs
// in Redis 6.2 or later: a single server, behind Sentinel, or a Cluster.
//
// # Keys
//
// PREFIX is Options.Prefix. {T} is a thread's id with { } % * written as %7B %7D %25 %2A;
// the braces make all keys of a thread share one slot of a cluster. Those of {*} are of
// all threads together. {R} is a run's id, written likewise.
//
//	key                      type    what
//	PREFIX:{T}:jobs          list    jobs in order, "ENQUEUED JSON" (ms, runs.EncodeJob); no TTL
//	PREFIX:{T}:delayed       zset    jobs that are not due, by when they are (ms); no TTL
//	PREFIX:{T}:state         hash    the lease and the head of the queue, see below; a minute after the last job
//	PREFIX:{T}:seen          zset    events by when they came (ms); Options.DedupeFor
//	PREFIX:{T}:run:RUN       string  checkpoint of a run, as the engine gave it; Options.Keep
//	PREFIX:{T}:events        stream  r run, k kind, b body; about EventsKept, for EventsFor
//	PREFIX:{T}:live          channel JSON of an event that is shown, or the id of the last in events
//	PREFIX:{T}:outbox        hash    b:KEY "N RECORDED JSON", p:KEY platform's id, n last N; Options.Keep
//	PREFIX:{T}:dead          hash    b:EVENT job as in jobs, r:EVENT "AT REASON"; Options.Keep
//	PREFIX:{T}:edits         hash    message → its edit that is not dealt with (runs.EncodeEdit); Options.Keep
//	PREFIX:{T}:runs          zset    runs that have records, by when they were saved (ms); Options.Keep
//	PREFIX:{*}:ready         stream  thread: threads to look at; consumer group "workers"; no TTL
//	PREFIX:{*}:noticed       hash    thread → its entry in ready, with a + behind it where there is something new
//	PREFIX:{*}:due           zset    threads by when they are to be looked at (ms)
//	PREFIX:{*}:dead          zset    threads that may have dead letters, by the last one (ms)
//	PREFIX:{*}:runs          zset    runs that have records, by when they were saved (ms); Options.Keep after workers last looked
//	PREFIX:{*}:runs:STATUS   zset    those of them with a status
//	PREFIX:{R}:letters       zset    "[THREAD,EVENT]" of dead letters that the run has or had, by when (ms);
//	                                 R is the event where a job has no run; Options.Keep
//	PREFIX:{R}:record        hash    body (runs.EncodeRecord, packed), fence, r:USER rating as JSON; Options.Keep
//
// Fields of state: token of the last lease; worker, until (ms), notice (its entry in
// ready), call (of Claim) and batch (of events, the last that was written) of a lease
// that stands; attempt, notbefore (ms), reason, stopby, stopat (ms) and unsure (ms, of
// runs.Lease.Unsure) of the job at the head; ended, the last lease's end.
//
// # How nothing gets lost
//
// All that belongs together in a thread is changed by one script. A thread that has work
// has an entry in ready, or stands in due. The entry stays pending in the group while a
// worker has the thread, and is acknowledged only after what comes next is written down:
// a new entry, or a time in due. A worker that dies leaves its entry pending; XAUTOCLAIM
// gives it to another one after Options.ClaimInterval/2, which takes the thread once its
// lease has run out. In a cluster ready is on another server than the thread. So there Enqueue
// first notes in due that the thread is to be looked at after ClaimInterval, then puts
// the job into the queue, then announces it, which takes the note back: wherever it is
// cut off, the job is found. If the server of {*} loses its last second in a failover,
// the next look through all queues (when workers start, and every ten minutes) finds what
// stands in none of both.
//
// Every script may be repeated after a cut connection: jobs are told by their events,
// leases and their ends by a random name of the call, events by their batch.
//
// Times are the servers' own. Between servers of a cluster only durations are passed.
//
// # What Redis may forget
//
// What is written is as durable as Redis makes it. With appendfsync always nothing that
// was confirmed is lost. With everysec the last second or two are, when the machine dies,
// and also when Redis is killed while it syncs: it confirms what it holds in memory
// meanwhile. The same goes for a replica that takes its master's place. Accepted
// messages may be lost then; but none is answered twice. A job that came before the
// servers last began (conn.Client.Since) waits until all leases that may be forgotten
// have run out, and its lease is Restored: what it comes to may have been posted. And
// once servers began anew, all queues are looked through: a worker that ended a lease
// just before may have settled the notice of a job that is there again.
//
// # Bounds
//
// Everything of a thread is on one server. All wake-ups pass the server of {*}: three
// short calls per job. Cluster spreads the rest.
package redis
