-- +goose Up

-- Threads: internal/session/embedded.
CREATE TABLE session (
	thread  TEXT PRIMARY KEY,
	body    TEXT NOT NULL,               -- session.Encode
	updated INTEGER NOT NULL,            -- Unix seconds of the last use
	fence   INTEGER NOT NULL             -- the greatest it was saved with
) WITHOUT ROWID;
CREATE INDEX session_updated ON session (updated);
CREATE TABLE session_list (              -- what a list shows of a session
	thread  TEXT PRIMARY KEY,
	title   TEXT NOT NULL,
	waiting INTEGER NOT NULL,            -- 0 or 1
	saved   INTEGER NOT NULL             -- Unix nanoseconds
) WITHOUT ROWID;
CREATE TABLE session_person (            -- who wrote where
	adapter TEXT NOT NULL,
	person  TEXT NOT NULL,
	thread  TEXT NOT NULL,
	PRIMARY KEY (adapter, person, thread)
) WITHOUT ROWID;
CREATE INDEX session_person_thread ON session_person (thread);

-- The queue, leases, checkpoints, events and the outbox: internal/runs/embedded. Times are
-- Unix milliseconds on the machine's clock, unless said. Tokens begin at the clock's
-- microseconds: those of a thread whose row is gone are not given again. In the tables job,
-- delayed, thread and delivery a thread is runs.QueueID.Key: a lane of it.
CREATE TABLE checkpoint (
	run     TEXT PRIMARY KEY,
	body    BLOB NOT NULL,               -- as the engine gave it
	updated INTEGER NOT NULL             -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX checkpoint_updated ON checkpoint (updated);
CREATE TABLE job (                       -- what is to be done, in order of id in each thread
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	body     BLOB NOT NULL,              -- runs.EncodeJob
	enqueued INTEGER NOT NULL
);
CREATE INDEX job_thread ON job (thread, id);
CREATE TABLE delayed (                   -- what joins job when it is due
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	due      INTEGER NOT NULL,
	body     BLOB NOT NULL
);
CREATE INDEX delayed_due ON delayed (due);
CREATE INDEX delayed_thread ON delayed (thread);
CREATE TABLE thread (                    -- threads that have jobs
	thread     TEXT PRIMARY KEY,
	claimable  INTEGER NOT NULL,         -- when its head may be claimed: at once, after a pause, or when the lease runs out
	token      INTEGER NOT NULL DEFAULT 0,
	worker     TEXT NOT NULL DEFAULT '', -- who has the lease; '' nobody
	attempt    INTEGER NOT NULL DEFAULT 0,  -- from here on: of the job at the head
	reason     TEXT NOT NULL DEFAULT '',
	stopped_by TEXT NOT NULL DEFAULT '',
	stopped_at INTEGER NOT NULL DEFAULT 0,  -- 0: not stopped
	unsure     INTEGER NOT NULL DEFAULT 0   -- runs.Lease.Unsure; 0: nothing is
) WITHOUT ROWID;
CREATE INDEX thread_turn ON thread (claimable, token);
CREATE TABLE seen (                      -- events, to tell their repeats
	thread TEXT NOT NULL,
	event  TEXT NOT NULL,
	at     INTEGER NOT NULL,
	PRIMARY KEY (thread, event)
) WITHOUT ROWID;
CREATE INDEX seen_at ON seen (at);
CREATE TABLE event (                     -- what happened in a thread
	position INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	run      TEXT NOT NULL,
	kind     TEXT NOT NULL,
	body     BLOB NOT NULL,
	at       INTEGER NOT NULL
);
CREATE INDEX event_thread ON event (thread, position);
CREATE INDEX event_at ON event (at);
CREATE TABLE delivery (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	thread   TEXT NOT NULL,
	key      TEXT NOT NULL,
	run      TEXT NOT NULL,
	body     BLOB NOT NULL,
	recorded INTEGER NOT NULL,
	posted   TEXT NOT NULL DEFAULT '',   -- the platform's id; '' until it is known
	UNIQUE (thread, key)
);
CREATE TABLE dead (                      -- dead letters
	thread TEXT NOT NULL,
	event  TEXT NOT NULL,
	body   BLOB NOT NULL,                -- runs.EncodeJob
	name   TEXT NOT NULL AS (CASE WHEN json_valid(CAST(body AS TEXT)) THEN coalesce(nullif(CAST(body AS TEXT) ->> '$.run', ''), event) ELSE event END),
	reason TEXT NOT NULL,
	at     INTEGER NOT NULL,
	PRIMARY KEY (thread, event)
) WITHOUT ROWID;
CREATE INDEX dead_name ON dead (name, at);
CREATE TABLE edit (                      -- changes of messages that are not dealt with
	thread  TEXT NOT NULL,
	message TEXT NOT NULL,
	author  TEXT NOT NULL,
	body    BLOB NOT NULL,               -- runs.EncodeEdit
	saved   INTEGER NOT NULL,
	PRIMARY KEY (thread, message)
) WITHOUT ROWID;

-- Records of runs: internal/runs/embedded.
CREATE TABLE record (
	run     TEXT PRIMARY KEY,
	body    TEXT NOT NULL,               -- runs.EncodeRecord
	updated INTEGER NOT NULL             -- Unix seconds
) WITHOUT ROWID;
CREATE INDEX record_updated ON record (updated);
CREATE TABLE rating (
	run     TEXT NOT NULL,
	person  TEXT NOT NULL,
	verdict TEXT NOT NULL,
	at      INTEGER NOT NULL,            -- Unix nanoseconds
	reason  TEXT NOT NULL,
	PRIMARY KEY (run, person)
) WITHOUT ROWID;
CREATE TABLE record_list (               -- what records are found by
	run    TEXT PRIMARY KEY,
	thread TEXT NOT NULL,
	author TEXT NOT NULL,
	status TEXT NOT NULL,
	fence  INTEGER NOT NULL,             -- the greatest it was saved with
	saved  INTEGER NOT NULL              -- Unix nanoseconds
) WITHOUT ROWID;
CREATE INDEX record_list_saved ON record_list (saved);
CREATE INDEX record_list_status ON record_list (status, saved);
CREATE INDEX record_list_thread ON record_list (thread, saved);

-- What was asked and spent: internal/quota.
CREATE TABLE asked (                     -- the questions of the last hour
	meter TEXT NOT NULL,
	id    TEXT NOT NULL,
	at    INTEGER NOT NULL,              -- Unix milliseconds
	PRIMARY KEY (meter, id)
) WITHOUT ROWID;
CREATE INDEX asked_at ON asked (at);
CREATE TABLE spent (                     -- of this day
	meter      TEXT NOT NULL,
	day        INTEGER NOT NULL,         -- since 1970, of UTC
	millionths INTEGER NOT NULL,
	PRIMARY KEY (meter, day)
) WITHOUT ROWID;

-- Settings of places: internal/chat/settings.
CREATE TABLE setting (
	space   TEXT NOT NULL,
	channel TEXT NOT NULL,               -- '' for the whole space
	setting BLOB NOT NULL,
	PRIMARY KEY (space, channel)
) WITHOUT ROWID;
CREATE TABLE spaces (                    -- those that were there when an app was set up
	app    TEXT PRIMARY KEY,
	spaces BLOB NOT NULL                 -- a list in JSON
) WITHOUT ROWID;
CREATE TABLE notice (                    -- notices that were given
	notice TEXT PRIMARY KEY,
	until  INTEGER NOT NULL              -- Unix milliseconds
) WITHOUT ROWID;
CREATE INDEX notice_until ON notice (until);

-- The table of groups: internal/access.
CREATE TABLE groups (
	source TEXT PRIMARY KEY,
	body   BLOB NOT NULL                 -- access.EncodeTable
) WITHOUT ROWID;
CREATE TABLE groups_version (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL             -- counts the changes
);
INSERT INTO groups_version VALUES (1, 1);

-- Installs of the Slack app: internal/adapters/slack/installs.
CREATE TABLE install (
	id     TEXT PRIMARY KEY,
	sealed BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE install_hold (              -- who refreshes an install
	id    TEXT PRIMARY KEY,
	owner TEXT NOT NULL,
	until INTEGER NOT NULL               -- Unix milliseconds
) WITHOUT ROWID;

-- Tickets of the Discord app: internal/adapters/discord/tickets.
CREATE TABLE ticket (                    -- the right to answer an interaction
	interaction TEXT PRIMARY KEY,
	ticket      BLOB NOT NULL,
	until       INTEGER NOT NULL         -- Unix milliseconds
) WITHOUT ROWID;
CREATE INDEX ticket_until ON ticket (until);
