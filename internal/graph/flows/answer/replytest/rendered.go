package replytest

import (
	"fmt"
	"regexp"
	"testing"
)

// Platform is what shows answers.
type Platform struct {
	// Check says what is wrong with how a text of any kind is shown.
	Check func(text string) error
	// Count counts what is shown of a text, false where that can't be told.
	Count func(text string) (shown Structure, ok bool, err error)
	// Expect is what Count is to find of a text with such a structure, nil where it is the same.
	Expect func(Structure) Structure
}

// RandomShown checks how a platform shows made-up replies: of those that are Markdown alone all
// tables, rows, items and blocks must be there.
func RandomShown(t *testing.T, on Platform) {
	t.Helper()
	Random(t, func(reply Reply) error {
		text := reply.Checked.Text
		if err := on.Check(text); err != nil || !reply.Tame {
			return err
		}
		shown, ok, err := on.Count(text)
		if err != nil || !ok {
			return err
		}
		want := Count(text)
		if on.Expect != nil {
			want = on.Expect(want)
		}
		if shown != want {
			return fmt.Errorf("%+v is shown as %+v", want, shown)
		}
		return nil
	})
}

// TablesAsBlocks expects tables as blocks of preformatted text.
func TablesAsBlocks(s Structure) Structure {
	s.Blocks, s.Tables = s.Blocks+s.Tables, 0
	return s
}

var row = regexp.MustCompile(`(?m)^jobs \d`)

// CountRows counts the rows of made-up tables in text that is set in columns.
func CountRows(text string) int { return len(row.FindAllString(text, -1)) }
