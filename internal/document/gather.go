package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// gathered collects documents within the limits.
type gathered struct {
	limits    Limits
	where     string // was looked, in words for people
	documents []Document
	texts     map[string]string
	length    int // of all texts
	skipped   []string
}

// nothing says that nothing can be read, and what was looked for.
func (g *gathered) nothing() error {
	text := fmt.Sprintf("I found nothing to read in %s: I looked for %s.", g.where, parse.Readable)
	if note := skippedNote(g.skipped, phrases.In(language.English)); note != "" {
		text += " " + note
	}
	return &RefusedError{Text: text}
}

// skip notes why a document was not read; reasons name the document themselves, or not.
func (g *gathered) skip(name string, reason error) {
	shown := "`" + strings.ReplaceAll(oneLine(name), "`", "") + "`"
	said := oneLine(reason.Error())
	if rest, named := strings.CutPrefix(said, name); named {
		said = shown + rest
	} else {
		said = shown + ": " + said
	}
	g.skipped = append(g.skipped, said)
}

// parse reads a document and adds it, or skips it.
func (g *gathered) parse(ctx context.Context, document Document, mediaType string, content []byte) error {
	limits := parse.Limits{Bytes: 4 * g.limits.FileBytes, Pages: 2000, Time: 10 * time.Second}
	read, err := parse.Parse(ctx, mediaType, document.Name, content, limits)
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", document.Name, ctx.Err())
	}
	if err != nil {
		g.skip(document.Name, err)
		return nil
	}
	document.Title = read.Title
	text := &builder{document: document}
	for _, section := range read.Sections {
		text.section(section.Headings, section.Anchor)
		before := parse.BlockKind(0)
		for _, block := range section.Blocks {
			text.block(block.Text, before == parse.ListItem && block.Kind == parse.ListItem)
			before = block.Kind
		}
	}
	return g.add(text)
}

// add keeps a document, unless it has no text.
func (g *gathered) add(text *builder) error {
	document, written := text.done()
	if strings.TrimSpace(written) == "" {
		g.skip(document.Name, errors.New("it has no text"))
		return nil
	}
	g.length += len(written)
	if g.length > g.limits.TextBytes {
		return refused("There is more than %s of text in %s: name a smaller part of it.", size(int64(g.limits.TextBytes)), g.where)
	}
	document.Name = g.unique(document.Name)
	g.documents = append(g.documents, document)
	g.texts[document.Name] = written
	return nil
}

// unique gives a name that no document has yet.
func (g *gathered) unique(name string) string {
	for n, wanted := 2, name; ; n++ {
		if _, taken := g.texts[name]; !taken {
			return name
		}
		name = fmt.Sprintf("%s (%d)", wanted, n)
	}
}

// builder puts a document's text together.
type builder struct {
	document Document
	text     strings.Builder
}

// section begins a section, unless the last one is the same one, going on.
func (b *builder) section(headings []string, anchor string) {
	if n := len(b.document.Sections); n > 0 {
		last := &b.document.Sections[n-1]
		if last.Anchor == anchor && slices.Equal(last.Headings, headings) {
			return
		}
	}
	at := b.text.Len()
	b.document.Sections = append(b.document.Sections, Section{Headings: headings, Anchor: anchor, Start: at, End: at})
}

// block adds text to the section; tight puts it on the next line, as items of a list.
func (b *builder) block(text string, tight bool) {
	text = knowledge.WithoutAddresses(text)
	section := &b.document.Sections[len(b.document.Sections)-1]
	switch {
	case b.text.Len() > section.Start && tight:
		b.text.WriteString("\n")
	case b.text.Len() > 0:
		b.text.WriteString("\n\n")
	}
	if section.Start == section.End {
		section.Start = b.text.Len()
	}
	b.text.WriteString(strings.ToValidUTF8(text, "\uFFFD"))
	section.End = b.text.Len()
}

// passage notes what the section was read from.
func (b *builder) passage(read Passage) {
	section := &b.document.Sections[len(b.document.Sections)-1]
	section.Passages = append(section.Passages, read)
}

func (b *builder) done() (Document, string) { return b.document, b.text.String() }

// attached reads the files that came with the message, which were made Markdown of.
func attached(ctx context.Context, set *gathered, attachments []flows.Attachment) error {
	if len(attachments) == 0 {
		return refused("There is nothing to read: attach files to the message, or name a folder (`./docs`) or a collection (`@handbook`) before the question.")
	}
	for i, file := range attachments {
		name := oneLine(file.Name)
		if name == "" {
			name = fmt.Sprintf("file %d", i+1)
		}
		document := Document{Name: name, ID: knowledge.DocumentID(fmt.Sprintf("attached:%d", i)), Kind: flows.KindAttachment}
		if err := set.parse(ctx, document, parse.Markdown, []byte(file.Text)); err != nil {
			return err
		}
	}
	return nil
}

// oneLine folds white space and drops what does not print.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
