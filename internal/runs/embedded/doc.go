// Package embedded keeps queues, leases, checkpoints, events, outboxes and records of runs
// in SQLite files, with no server. Several processes of one machine may share them.
//
// What is written is safe from the death of the process once the call has returned: it is in
// the write-ahead log, in the hands of the operating system. It is not forced to the
// disk before the log is next folded into the file (every 1,000 pages), so a power cut
// or a crash of the machine can take back the last saves: the file stays whole, and
// runs go on from the checkpoints before those.
package embedded
