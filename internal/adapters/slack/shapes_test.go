package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// shapes are events of every kind that Slack documents, by name.
func shapes(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile("testdata/shapes/events.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// filled gives a shape the values without which no event arrives.
func filled(shape json.RawMessage) []byte {
	values := [][2]string{
		{`"type":""`, `"type":"event_callback"`}, {`"team_id":""`, `"team_id":"T1"`}, {`"channel":""`, `"channel":"C1"`},
		{`"user":""`, `"user":"U1"`}, {`"ts":""`, `"ts":"1.1"`}, {`"deleted_ts":""`, `"deleted_ts":"1.1"`},
		{`"thread_ts":""`, `"thread_ts":"1.0"`}, {`"text":""`, `"text":"hello"`}, {`"bot_id":""`, `"bot_id":null`},
	}
	for i, value := range values {
		times := -1
		if i == 0 {
			times = 1 // the envelope's; blocks have types as well
		}
		shape = bytes.Replace(shape, []byte(value[0]), []byte(value[1]), times)
	}
	return shape
}

// TestEveryKindOfEvent has each kind of event give the right message, or be ignored on
// purpose; the golden file is the table of which.
func TestEveryKindOfEvent(t *testing.T) {
	all := shapes(t)
	if len(all) != 96 {
		t.Errorf("%d kinds of events", len(all))
	}
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		found, err := translateEvent(filled(all[name]), "U0CAIRN")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		told := line(found)
		if found.kind != kindIgnored && found.message.ID == "" {
			told = kinds[found.kind]
		}
		fmt.Fprintf(&table, "%-36s %s\n", name, told)
		if _, err := translateEvent(all[name], ""); err != nil {
			t.Errorf("%s, empty as it is: %v", name, err)
		}
	}
	golden(t, "events", table.String())
}
