package chattest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat"
)

// CheckPlaceTable holds a platform's rows of the table of places in docs/access.md against
// what its adapter tells of such places, by the words of the row. page is the document's path.
func CheckPlaceTable(t *testing.T, page, platform string, places map[string][]chat.Place) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| platform | place | members known | everybody there has |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != 4 || cells[0] != platform {
			continue
		}
		rows++
		if len(places[cells[1]]) == 0 {
			t.Errorf("%s: no place of %q was looked at", platform, cells[1])
		}
		for _, place := range places[cells[1]] {
			if known, has := describePlace(place); known != cells[2] || has != cells[3] {
				t.Errorf("%s: of %q the page says %q and %q, the adapter %q and %q: %+v", platform, cells[1], cells[2], cells[3], known, has, place)
			}
		}
	}
	if rows != len(places) {
		t.Errorf("the page has %d rows of %s, want %d", rows, platform, len(places))
	}
}

// describePlace words a place as the page does.
func describePlace(place chat.Place) (members, has string) {
	switch {
	case !place.Complete:
		members = "no"
	case place.Channel == "" && len(place.Members) == 1:
		members = "the person"
	default:
		members = "up to " + strconv.Itoa(chat.MaxMembers)
	}
	var principals []string
	if place.Channel != "" {
		principals = append(principals, "channel")
	}
	if place.Team != "" {
		principals = append(principals, "team")
	}
	if len(principals) == 0 {
		return members, "–"
	}
	return members, strings.Join(principals, ", ")
}
