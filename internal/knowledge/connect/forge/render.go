package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// maxComments is how many comments of one item are read.
const maxComments = 1000

// render writes an item as Markdown: what it says, then each comment as a section that links to
// the comment.
func (i item) render(noun string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", oneLine(i.Title))
	var facts []string
	if i.State != "" {
		fact := noun + " " + i.Key + ", " + i.State
		if i.State == "closed" && !i.Closed.IsZero() {
			fact += " on " + i.Closed.UTC().Format(time.DateOnly)
		}
		facts = append(facts, fact)
	} else {
		facts = append(facts, noun+" "+oneLine(i.Key))
	}
	if i.Author != "" {
		facts = append(facts, "by "+oneLine(i.Author)+" on "+i.Created.UTC().Format(time.DateOnly))
	}
	if len(i.Labels) > 0 {
		facts = append(facts, "labels: "+oneLine(strings.Join(i.Labels, ", ")))
	}
	fmt.Fprintf(&b, "%s.\n\n", strings.Join(facts, "; "))
	b.WriteString(demoteHeadings(i.Body))
	b.WriteString("\n")
	for _, c := range i.Comments {
		word := "Comment"
		switch {
		case c.Answer:
			word = "Accepted answer"
		case c.Reply:
			word = "Reply"
		}
		fmt.Fprintf(&b, "\n## %s by %s on %s", word, oneLine(c.Author), c.Created.UTC().Format(time.DateOnly))
		if c.Anchor != "" {
			fmt.Fprintf(&b, " {#%s}", c.Anchor)
		}
		fmt.Fprintf(&b, "\n\n%s\n", demoteHeadings(c.Body))
	}
	return []byte(b.String())
}

// oneLine makes a text one line that can't be taken for markup of ours.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '{', r == '}', r == utf8.RuneError:
			return -1
		case r < ' ', r == 0x7f:
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// demoteHeadings puts the headings of what somebody wrote below ours: text that begins like a
// comment's heading must not be taken for another person's comment. Code is left as it is.
func demoteHeadings(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	fence := ""
	for at, line := range lines {
		trimmed := strings.TrimLeft(line, " ")
		indented := len(line)-len(trimmed) > 3
		mark := fenceOf(trimmed)
		switch {
		case fence != "":
			if !indented && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \t") == "" {
				fence = ""
			}
		case !indented && mark != "":
			fence = mark
		case !indented && strings.HasPrefix(trimmed, "#"):
			level := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
			if level <= 6 {
				lines[at] = strings.Repeat("#", min(level+2, 6)) + trimmed[level:]
			}
		case !indented && at > 0 && isUnderline(trimmed) && strings.TrimSpace(lines[at-1]) != "":
			lines[at] = "" // the line above stays as text
		default:
			lines[at] = tagHeading.ReplaceAllString(line, "<${1}h6")
		}
	}
	if fence != "" { // or what follows would be code
		lines = append(lines, fence)
	}
	return strings.Join(lines, "\n")
}

// tagHeading is where a heading begins or ends in HTML.
var tagHeading = regexp.MustCompile(`(?i)<(/?)h[1-6]\b`)

// fenceOf gives the fence that a line of a code block begins with, "" for none.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if count := len(line) - len(strings.TrimLeft(line, mark)); count >= 3 && (mark != "`" || !strings.Contains(line[count:], mark)) {
			return strings.Repeat(mark, count)
		}
	}
	return ""
}

// isUnderline reports whether a line makes a heading of the one above.
func isUnderline(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// hashVersion begins the hashes of this form. One of another is of an item that is read anew.
const hashVersion = "f1"

// listedHash stands for an item as its list shows it; settings for what holds for all of a
// repository.
func (i item) listedHash(settings string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q", i.Title, i.Body, i.Author, i.State, i.Labels, i.Closed.UTC(), i.URL))
	return fmt.Sprintf("%s %d %d %s %s", hashVersion, i.Updated.Unix(), i.Count, hex.EncodeToString(sum[:12]), settings)
}

// isSame reports whether an item is, as its list shows it, the one of a hash.
func (i item) isSame(hash, settings string) bool {
	return strings.HasPrefix(hash, i.listedHash(settings)+" ")
}

// hash stands for an item with its comments.
func (i item) hash(settings string) string {
	sum := sha256.New()
	for _, c := range i.Comments {
		fmt.Fprintf(sum, "%q %q %q %t %t\n", c.Anchor, c.Author, c.Body, c.Answer, c.Reply)
	}
	return i.listedHash(settings) + " " + hex.EncodeToString(sum.Sum(nil)[:6])
}

// hasSettings reports whether a hash is of an item for which the same held.
func hasSettings(hash, settings string) bool {
	const fields, at = 6, 4
	parts := strings.Split(hash, " ")
	return len(parts) == fields && parts[0] == hashVersion && parts[at] == settings
}

// settingsHash stands for whom a repository's documents are for and how they are shown.
func settingsHash(audience knowledge.Audience, owner string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", audience, owner))
	return hex.EncodeToString(sum[:6])
}
