package redis

import (
	"encoding/json"
	"strconv"

	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

// place is where a script finds something: the number of a key in KEYS, or of a text in ARGV,
// from 1; 0 for none.
type place int

// arguments are what a script is given that reads a header: its first argument, in which all
// else is named by its place.
type arguments struct {
	keys  []string
	texts []any // begins with the header
}

func newArguments(keys ...string) *arguments {
	return &arguments{keys: keys, texts: []any{nil}}
}

func (a *arguments) key(key string) place {
	a.keys = append(a.keys, key)
	return place(len(a.keys))
}

func (a *arguments) text(text any) place {
	a.texts = append(a.texts, text)
	return place(len(a.texts))
}

// withHeader returns keys and arguments of a script with the header.
func (a *arguments) withHeader(header any) ([]string, []any, error) {
	encoded, err := json.Marshal(header)
	a.texts[0] = encoded
	return a.keys, a.texts, err
}

// sessionHeader is a session that a script saves, see saveSession in prelude.lua.
type sessionHeader struct {
	Key    place   `json:"key"`
	Body   place   `json:"body"`
	People place   `json:"people"`
	Keep   int64   `json:"keep"` // ms
	Lists  []place `json:"lists,omitempty"`
	Thread place   `json:"thread"`
}

// addSession adds a session, and in a single server people's lists of threads.
func (k keys) addSession(to *arguments, saved session.Session, keep int64, cluster bool) (*sessionHeader, error) {
	body, err := session.Encode(saved)
	if err == nil {
		body, err = packJSON(body)
	}
	if err != nil {
		return nil, err
	}
	header := &sessionHeader{
		Key: to.key(k.sessionKey(saved.Thread)), Body: to.text(body), People: to.text(joinPeople(saved.People)), Keep: keep,
		Thread: to.text(string(saved.Thread)),
	}
	if !cluster {
		for _, list := range k.listKeys(saved.Thread, saved.People) {
			header.Lists = append(header.Lists, to.key(list))
		}
	}
	return header, nil
}

// recordHeader is a record that a script saves, see saveRecord in prelude.lua.
type recordHeader struct {
	Key    place                 `json:"key"`
	Body   place                 `json:"body"`
	Status runs.Status           `json:"status"`
	Run    place                 `json:"run"`
	Keep   int64                 `json:"keep"` // ms
	Runs   place                 `json:"runs"`
	Home   place                 `json:"home,omitempty"`
	Thread place                 `json:"thread,omitempty"`
	All    place                 `json:"all,omitempty"`
	Lists  map[runs.Status]place `json:"lists,omitempty"`
}

// addRecord adds a record, and in a single server what finds it. In a cluster that is written
// before (listRecord).
func (k keys) addRecord(to *arguments, record runs.Record, keep int64, cluster bool) (recordHeader, error) {
	body, err := runs.EncodeRecord(record)
	if err == nil {
		body, err = packJSON(body)
	}
	if err != nil {
		return recordHeader{}, err
	}
	header := recordHeader{
		Key: to.key(k.recordKey(record.Thread, record.ID)), Body: to.text(body), Status: record.Status(), Run: to.text(string(record.ID)),
		Keep: keep, Runs: to.key(k.runsKey(record.Thread)),
	}
	if cluster {
		return header, nil
	}
	header.Home, header.Thread = to.key(k.homeKey(record.ID)), to.text(string(record.Thread))
	header.All, header.Lists = to.key(k.globalKey("runs")), make(map[runs.Status]place)
	for _, status := range append(formerStatuses(record), record.Status()) {
		header.Lists[status] = to.key(k.statusKey(status))
	}
	return header, nil
}

// formerStatuses returns the statuses that a record had, but for the one that it has.
func formerStatuses(record runs.Record) []runs.Status {
	var former []runs.Status
	for _, transition := range record.Transitions {
		if transition.To != record.Status() {
			former = append(former, transition.To)
		}
	}
	return former
}

// deliveryHeader, confirmedHeader, checkpointHeader and resultHeader are parts of a commit.
type (
	deliveryHeader struct {
		Key  place `json:"key"`
		Body place `json:"body"`
	}
	confirmedHeader struct {
		Key    place `json:"key"`
		Posted place `json:"posted"`
	}
	checkpointHeader struct {
		Key  place `json:"key"`
		Body place `json:"body"`
	}
	resultHeader struct {
		Next   runs.Next  `json:"next"`
		After  int64      `json:"after"` // ms
		Reason place      `json:"reason"`
		Event  place      `json:"event"`
		Over   place      `json:"over,omitempty"`
		Doubt  runs.Doubt `json:"doubt"`
	}
)

// commitHeader is the header of commit.lua.
type commitHeader struct {
	Token         string            `json:"token"`
	TTL           int64             `json:"ttl"`              // ms
	Call          string            `json:"call"`             // names the commit: one that is repeated is done once
	Number        int64             `json:"number"`           // its place among those of the lease: a later one has a greater number
	Unsure        map[string]int    `json:"unsure,omitempty"` // commits of which it is not known whether they were made, and how many events each had
	UnlessStopped bool              `json:"unlessstopped,omitempty"`
	UnlessBehind  bool              `json:"unlessbehind,omitempty"`
	Keep          int64             `json:"keep"` // ms
	Checkpoint    *checkpointHeader `json:"checkpoint,omitempty"`
	Records       []recordHeader    `json:"records,omitempty"`
	Session       *sessionHeader    `json:"session,omitempty"`
	Delivery      *deliveryHeader   `json:"delivery,omitempty"`
	Confirmed     *confirmedHeader  `json:"confirmed,omitempty"`
	Events        [][3]place        `json:"events,omitempty"` // run, kind, body
	Channel       place             `json:"channel,omitempty"`
	Kept          int               `json:"kept"`
	EventsFor     int64             `json:"eventsfor"` // ms
	Result        *resultHeader     `json:"result,omitempty"`
	Thread        place             `json:"thread,omitempty"`
	Notice        place             `json:"notice,omitempty"`
	Group         string            `json:"group,omitempty"`
	Wake          place             `json:"wake,omitempty"` // the first of ready, due and noticed
}

// addResult adds the end of a lease.
func (c commit) addResult(s *Store, to *arguments, header *commitHeader) {
	lease, result, next := c.lease, *c.Result, c.Result.Next
	if next == "" {
		next = runs.Finished
	}
	header.Result = &resultHeader{
		Next: next, After: result.After.Milliseconds(), Reason: to.text(result.Reason), Event: to.text(string(lease.Job.Event)), Doubt: result.Doubt,
	}
	if result.Over != "" {
		header.Result.Over = to.key(s.keys.checkpointKey(lease.Thread, string(result.Over)))
	}
	if !s.client.Cluster && !c.keepsNotice {
		header.Thread, header.Notice, header.Group = to.text(lease.Queue().Key()), to.text(lease.Ref), consumerGroup
		for i, key := range s.keys.wakeKeys() {
			if at := to.key(key); i == 0 {
				header.Wake = at
			}
		}
	}
}

// addEvents adds events, which a channel is told of.
func (c commit) addEvents(to *arguments, header *commitHeader, channel string) {
	if len(c.events) == 0 {
		return
	}
	header.Channel = to.text(channel)
	for _, event := range c.events {
		header.Events = append(header.Events, [3]place{to.text(string(event.Run)), to.text(string(event.Kind)), to.text(event.Body)})
	}
}

func formatToken(token runs.Token) string { return strconv.FormatInt(int64(token), 10) }
