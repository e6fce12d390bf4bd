package markup

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
)

// Age returns how long ago then was, as people do: "3 weeks ago". A time in the future,
// as a wrong clock gives it, is "just now"; the zero time is "".
func Age(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	const day = 24 * time.Hour
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{365 * day, "year"}, {30 * day, "month"}, {7 * day, "week"}, {day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch count := now.Sub(then) / unit.length; {
		case count == 1:
			return "1 " + unit.name + " ago"
		case count > 1:
			return fmt.Sprintf("%d %ss ago", count, unit.name)
		}
	}
	return "just now"
}

// Freshness returns how a source stands to the document it was made from, "" when that
// is not known.
func Freshness(source chat.Source, now time.Time) string {
	age := Age(now, source.Modified)
	switch {
	case source.State == "gone":
		return "no longer there"
	case source.State == "changed": // when is not known: Modified is of what was read
		return "changed after it was read"
	case source.State == "old" && age != "":
		return "unchanged for " + strings.TrimSuffix(age, " ago")
	case age != "":
		return "changed " + age
	}
	return ""
}

// Place returns where a source's section is, as text: the document's path with the
// section's anchor, or the section's address when the document has no path.
func Place(source chat.Source, section chat.Section) string {
	if source.Path == "" {
		return CleanLine(section.URL)
	}
	if section.Anchor == "" {
		return CleanLine(source.Path)
	}
	return CleanLine(source.Path + "#" + section.Anchor)
}

// WebAddress returns an address that a person may be sent to: absolute, http or https,
// with a host and no password, spelled in printable ASCII. ok is false for any other.
func WebAddress(address string) (clean string, ok bool) {
	parsed, err := url.Parse(strings.TrimSpace(address))
	if err != nil || parsed.Host == "" || parsed.User != nil {
		return "", false
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", false
	}
	return percentEncode(parsed.String()), true
}

// percentEncode percent-encodes all bytes that are not printable ASCII.
func percentEncode(address string) string {
	var b strings.Builder
	for i := 0; i < len(address); i++ {
		if c := address[i]; c > ' ' && c < 0x7F {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
