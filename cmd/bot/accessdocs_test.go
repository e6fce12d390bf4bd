package main

import (
	"os"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/config"
)

// TestAccessDocs holds the table of who may ask against the settings and their defaults.
func TestAccessDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	defaults, err := config.Load("")
	if err != nil {
		t.Fatal(err)
	}
	may := func(open bool) string {
		if open {
			return "yes"
		}
		return "no"
	}
	rows := map[string]string{
		"Slack | guest":                     may(defaults.Slack.Guests) + " | `slack.guests`",
		"Slack | external":                  may(defaults.Slack.External) + " | `slack.external`",
		"Slack | unlisted workspace":        may(len(defaults.Slack.Teams) > 0) + " | `slack.teams`",
		"Discord | unlisted server":         may(len(defaults.Discord.Servers) > 0) + " | `discord.servers`",
		"Discord | stranger, directly":      "no | `discord.servers`",
		"Slack | member":                    "yes | `/cairn admin askers`",
		"Discord | member":                  "yes | `/cairn-admin roles`",
		"Discord | member without the role": "no | `/cairn-admin roles`",
	}
	_, table, _ := strings.Cut(string(page), "## Who may ask\n")
	table, _, _ = strings.Cut(table, "*External*")
	lines := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| Slack") && !strings.HasPrefix(line, "| Discord") {
			continue
		}
		lines++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != 4 || rows[cells[0]+" | "+cells[1]] != cells[2]+" | "+cells[3] {
			t.Errorf("the code says otherwise: %s", line)
		}
	}
	if lines != len(rows) {
		t.Errorf("the table has %d rows, want %d", lines, len(rows))
	}
}
