package parse

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Parts reads a document as Read does, and one with more text than Limits.Part in parts, so that the
// memory that it takes besides Content hardly grows with it: every part has some sections, in reading
// order, and the first the title and what else the document says of itself. A section that is cut goes
// on in the next part under the same heading. A title that the document does not state is looked for
// in the first part. An error is the last that is yielded, and what came before it is to be dropped.
func Parts(ctx context.Context, document Document, limits Limits) iter.Seq2[Text, error] {
	return func(yield func(Text, error) bool) {
		p := &parting{ctx: ctx, name: document.Name, yield: yield}
		rest, err := readParts(ctx, document, limits.withDefaults(), p.emit)
		if err == nil && (len(rest.Sections) > 0 || !p.begun) {
			err = p.emit(rest)
		}
		if err != nil && !p.stopped {
			yield(Text{}, err)
		}
	}
}

// errStopped ends the reading of a document of which nobody takes more parts.
var errStopped = errors.New("no more parts are wanted")

// parting is a document that is read in parts.
type parting struct {
	ctx     context.Context //nolint:containedctx // of one call of Parts
	name    string
	yield   func(Text, error) bool
	begun   bool
	stopped bool
}

func (p *parting) emit(part Text) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.begun {
		part = Text{Sections: part.Sections}
	} else {
		part = part.completed(p.name)
	}
	p.begun = true
	if p.stopped = !p.yield(part, nil); p.stopped {
		return errStopped
	}
	return nil
}

// spill gives the sections that an outline has away where they are many and the document is read in
// parts. facts are what the document says of itself.
func (in input) spill(facts Text, o *outline) (spilled bool, err error) {
	if in.emit == nil || int64(o.bytes) < in.limits.Part {
		return false, nil
	}
	facts.Sections = o.takeSections()
	return true, in.emit(facts)
}

// takeSections gives the sections away, but for headings at the end that have no text yet, and goes on
// under the last heading.
func (o *outline) takeSections() []Section {
	end := len(o.sections)
	for end > o.carried+1 && len(o.sections[end-1].Blocks) == 0 {
		end--
	}
	kept := slices.Clone(o.sections[end:])
	o.sections = o.sections[:end]
	taken := o.finished()
	last := o.sections[end-1]
	last.Blocks = nil
	open := []Section{last}
	for i := end - 2; i >= 0; i-- {
		if above := o.sections[i]; above.Level < open[len(open)-1].Level {
			above.Blocks = nil
			open = append(open, above)
		}
	}
	slices.Reverse(open)
	o.sections, o.carried, o.bytes, o.spilled = slices.Concat(open, kept), len(open)-1, 0, true
	return taken
}

// textPart is some lines of a text file.
type textPart struct {
	text string
	line int  // number of the first one, from 0
	more bool // others follow, with the next line
}

// isLarge says whether the source of a document is read in parts.
func (in input) isLarge() bool { return in.emit != nil && int64(len(in.content)) > in.limits.Part }

// textParts yields a text file as decoded gives it, whole, or in parts where it is large.
// cut gives the place in a text at whose beginning of a line it is best cut, 0 where there is none.
func (in input) textParts(cut func(text string) int) iter.Seq2[textPart, error] {
	return func(yield func(textPart, error) bool) {
		var next textPart
		for piece, err := range in.pieces() {
			if err != nil {
				yield(textPart{}, err)
				return
			}
			next.text += piece
			if !in.isLarge() || int64(len(next.text)) < in.limits.Part {
				continue
			}
			at := cut(next.text)
			if at == 0 && int64(len(next.text)) < maxUncut*in.limits.Part {
				continue
			}
			if at == 0 {
				at = len(next.text)
			}
			part := textPart{text: strings.Clone(next.text[:at]), line: next.line, more: true}
			if !yield(part, nil) {
				return
			}
			next = textPart{text: next.text[at:], line: next.line + strings.Count(part.text, "\n")}
		}
		if next.text != "" || next.line == 0 {
			yield(next, nil)
		}
	}
}

// maxUncut is how many times as large a part may become where it can't be cut well.
const maxUncut = 4

// pieces yields a text file decoded, in pieces that end with a line where it is large.
func (in input) pieces() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if !in.isLarge() || hasUTF16Mark(in.content) {
			yield(decoded(in.content))
			return
		}
		decode := decodeWindows1252
		if mostlyUTF8(in.content) {
			decode = decodeUTF8
		}
		for rest := in.content; len(rest) > 0; {
			at := pieceEnd(rest, int(in.limits.Part))
			piece, err := decode(rest[:at])
			if !yield(piece, err) || err != nil {
				return
			}
			rest = rest[at:]
		}
	}
}

// pieceEnd gives where a piece of about so many bytes ends: behind a line, else behind a space, or at
// least behind a character.
func pieceEnd(content []byte, size int) int {
	if len(content) <= size {
		return len(content)
	}
	for _, end := range []byte{'\n', ' '} {
		if at := slices.Index(content[size:min(len(content), maxUncut*size)], end); at >= 0 {
			return size + at + 1
		}
	}
	at := size
	for at < len(content) && at < size+utf8.UTFMax && !utf8.RuneStart(content[at]) {
		at++
	}
	return at
}

// cutAtGap gives the beginning of the last line that stands behind an empty one.
func cutAtGap(text string) int {
	if at := strings.LastIndex(text, "\n\n"); at > 0 {
		return at + len("\n\n")
	}
	return 0
}

// partReader reads what parts of a text hold.
type partReader struct {
	text string
	next func() (textPart, error, bool)
}

// Read implements io.Reader.
func (r *partReader) Read(into []byte) (int, error) {
	for r.text == "" {
		part, err, ok := r.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, io.EOF
		}
		r.text = part.text
	}
	n := copy(into, r.text)
	r.text = r.text[n:]
	return n, nil
}
