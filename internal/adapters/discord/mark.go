package discord

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Verbs that Discord's surfaces have beside those of all platforms.
const (
	verbMenu  interact.Verb = "menu"  // one of several things, which the choice names
	verbWords interact.Verb = "words" // opens the form for an answer in other words
	verbNone  interact.Verb = "none"  // tells something and does nothing
)

var verbs = append(interact.Verbs(), verbMenu, verbWords, verbNone)

// mark is what a message of the bot's is known by. It stands behind the verb in the first
// custom id of the message, which Discord keeps with it, gives back with every press, and
// shows to nobody: "why:run-1~KEY.03.2f8n".
type mark struct {
	key     chat.PostKey // "" of a draft
	index   int          // which part of the post the message is
	of      int          // how many parts there are; 0 of a draft
	root    string       // of its place
	private bool
}

func (m mark) isDraft() bool { return m.key == "" && m.of == 0 }

func (m mark) String() string {
	text := "~" + string(m.key) + "." + strconv.FormatInt(int64(m.index), 36) + strconv.FormatInt(int64(m.of), 36)
	if m.root == "" {
		return text
	}
	text += "." + shortenID(m.root)
	if m.private {
		text += "!"
	}
	return text
}

// maxCustomID is Discord's limit.
const maxCustomID = 100

// customID makes the id of a button. The id of a run or question is the bot's own and
// short; one that does not fit is a mistake.
func customID(does interact.Verb, about, value string) (string, error) {
	id := string(does) + ":" + about
	if value != "" {
		id += ":" + value
	}
	if render.Length(id) > 48 || strings.Contains(id, "~") {
		return "", fmt.Errorf("the id %q does not fit into a button of Discord's: keep ids under 36 characters, without ~", render.Head(about, 60))
	}
	return id, nil
}

// action is what a custom id says.
type action struct {
	does  interact.Verb
	about string
	value string
	mark  *mark // of the message, where it is the first id in it
}

// parseAction reads a custom id; false for one that is not of this package.
func parseAction(id string) (action, bool) {
	id, marked, has := strings.Cut(id, "~")
	fields := strings.SplitN(id, ":", 3)
	if len(fields) < 2 || render.Length(id) > maxCustomID {
		return action{}, false
	}
	found := action{about: fields[1]}
	if len(fields) > 2 {
		found.value = fields[2]
	}
	for _, known := range verbs {
		if string(known) == fields[0] {
			found.does = known
		}
	}
	if has {
		m, ok := parseMark(marked)
		if !ok {
			return action{}, false
		}
		found.mark = &m
	}
	return found, found.does != ""
}

func parseMark(text string) (mark, bool) {
	fields := strings.Split(text, ".")
	if len(fields) < 2 || len(fields) > 3 || len(fields[1]) != 2 {
		return mark{}, false
	}
	index, err1 := strconv.ParseInt(fields[1][:1], 36, 0)
	of, err2 := strconv.ParseInt(fields[1][1:], 36, 0)
	if errors.Join(err1, err2) != nil {
		return mark{}, false
	}
	m := mark{key: chat.PostKey(fields[0]), index: int(index), of: int(of)}
	if len(fields) == 3 {
		root, private := strings.CutSuffix(fields[2], "!")
		if m.root, m.private = expandID(root), private; m.root == "" || !snowflake.MatchString(m.root) {
			return mark{}, false
		}
	}
	return m, true
}

// markOf reads the mark of a message; false for one that has none.
func markOf(components []component) (mark, bool) {
	for _, c := range components {
		if c.CustomID != "" {
			does, ok := parseAction(c.CustomID)
			if !ok || does.mark == nil {
				return mark{}, false
			}
			return *does.mark, true
		}
		if m, ok := markOf(c.Components); ok {
			return m, true
		}
	}
	return mark{}, false
}

// addMark gives a note with a mark. One without components gets a button that only says
// what the message is.
func addMark(n note, m mark, says string) note {
	if len(n.Components) == 0 {
		n.Components = []component{{Type: rowType, Components: []component{{
			Type: buttonType, Style: secondary, Label: says, Disabled: true, CustomID: string(verbNone) + ":",
		}}}}
	}
	rows := append([]component{}, n.Components...)
	rows[0].Components = append([]component{}, rows[0].Components...)
	rows[0].Components[0].CustomID += m.String()
	n.Components = rows
	return n
}
