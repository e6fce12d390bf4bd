// Package redis is the store in Redis 6.2 or later: a single server, behind Sentinel, or a
// Cluster.
//
// # Keys
//
// PREFIX is Options.Prefix. {T} is a thread's id with { } % * written as %7B %7D %25 %2A;
// the braces make all keys of a thread share one slot of a cluster. Those of {*} are of
// all threads together. {R} is a run's id, written likewise. L: is the lane of a thread, and left
// out for that of messages; runs.QueueID.Key names lanes in the lists of all threads.
//
//	key                      type    what
//	PREFIX:{T}:L:jobs        list    jobs of a lane in order, "ENQUEUED JSON" (ms, runs.EncodeJob); no TTL
//	PREFIX:{T}:L:delayed     zset    jobs that are not due, by when they are (ms); no TTL
//	PREFIX:{T}:L:state       hash    the lease, the head of the queue and the outbox, see below; gone with the last job
//	PREFIX:{T}:L:ended       string  "TOKEN CALL" of the lease that ended last, where the state is gone; a minute
//	PREFIX:{T}:seen:EVENT    string  an event that came; Options.DedupeFor
//	PREFIX:{T}:session       string  "SAVED PEOPLE\n" (SAVED in ms, PEOPLE as in a URL's query, with commas) and
//	                                 session.Encode, packed; Options.Keep after the last use
//	PREFIX:{T}:run:RUN       string  checkpoint of a run, as the engine gave it; Options.Keep
//	PREFIX:{T}:record:RUN    string  "STATUS SAVED\n" (SAVED in ms) and runs.EncodeRecord, packed; Options.Keep
//	PREFIX:{T}:ratings:RUN   hash    person → rating as JSON; twice Options.Keep after the last
//	PREFIX:{T}:runs          zset    runs that have records, by when they were saved (ms); Options.Keep, and a day
//	PREFIX:{T}:events        stream  r run, k kind, b body; about EventsKept, for EventsFor after the last job
//	PREFIX:{T}:live          channel JSON of an event that is shown, or the id of the last in events
//	PREFIX:{T}:dead          hash    b:EVENT job as in jobs, r:EVENT "AT REASON"; Options.Keep
//	PREFIX:{T}:edits         hash    message → its edit that is not dealt with (runs.EncodeEdit); Options.Keep
//	PREFIX:{A:P}:threads     zset    threads of the adapter A in which the person P wrote, by when they were saved (ms);
//	                                 Options.Keep, and a day, after the last save of one of them, or look at the list
//	PREFIX:{*}:ready         stream  thread: queues to look at; consumer group "workers"; no TTL
//	PREFIX:{*}:noticed       hash    queue → its entry in ready, with a + behind it where there is something new
//	PREFIX:{*}:due           zset    queues by when they are to be looked at (ms)
//	PREFIX:{*}:dead          zset    threads that may have dead letters, by the last one (ms)
//	PREFIX:{*}:runs          zset    runs that have records, by when they were saved (ms); Options.Keep after workers last looked
//	PREFIX:{*}:runs:STATUS   zset    those of them with a status
//	PREFIX:{R}:thread        string  the thread that the run is of; Options.Keep, and two days
//	PREFIX:{R}:letters       zset    "[THREAD,EVENT]" of dead letters that the run has or had, by when (ms);
//	                                 R is the event where a job has no run; Options.Keep
//
// Fields of state: token of the last lease; worker, until (ms), notice (its entry in
// ready), call (of Claim), batch (the last commit) and number (of that) of a lease that stands; attempt,
// notbefore (ms), reason, stopby, stopat (ms) and unsure (ms, of runs.Lease.Unsure) of the job
// at the head; behind, where others wait behind it; ended, the last lease's end; b:KEY
// "N RECORDED JSON" and p:KEY the platform's id, of deliveries, and outbox, how many there are.
//
// An expiry costs a command of its own but for strings. So keys that are written often have it
// set when they are made and then once a day.
//
// # How nothing gets lost
//
// All that belongs together in a thread is changed by one script; for what a worker does that is
// commit.lua, under its lease. In a cluster the lists of all threads, of people and of a run's
// home are on other servers: what finds something is written before it, and the rest
// behind. A thread that has work
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
// leases, commits and ends of leases by a random name of the call. The commits of a lease are
// numbered: one that was given up, and that a cut connection delays, is refused behind a later one.
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
