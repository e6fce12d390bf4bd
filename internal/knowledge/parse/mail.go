package parse

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/htmlindex"
)

// Bounds of an e-mail.
const (
	maxMailParts = 200
	maxMailDepth = 10
	// maxMailParagraph is how long a paragraph may become, in bytes.
	maxMailParagraph = 1 << 20
)

// parseMail reads an e-mail: who wrote it to whom and when, its text, and the names of what is
// attached. Lines that quote what was written before are left out. The source is gone through twice:
// for what there is, and for the text that is read of it.
func parseMail(in input) (Text, error) {
	survey := &mailReader{in: in}
	header, err := survey.readMessage()
	if err != nil {
		return Text{}, err
	}
	text := Text{Title: mailHeader(header, "Subject")}
	out := newOutline()
	var facts []string
	for _, name := range []string{"From", "To", "Date"} {
		if value := mailHeader(header, name); value != "" {
			facts = append(facts, name+": "+value)
		}
	}
	out.add(Paragraph, strings.Join(facts, " · "))
	reader := &mailReader{in: in, facts: text, outline: out, format: Plain}
	if !survey.hasPlain {
		reader.format = HTML
	}
	if survey.hasPlain || survey.hasHTML {
		if _, err := reader.readMessage(); err != nil {
			return Text{}, err
		}
	}
	text.Sections = slices.Concat(out.finished(), reader.sections)
	if len(survey.attached) > 0 {
		after := newOutline()
		after.add(Paragraph, "Attached: "+oneLine(strings.Join(survey.attached, ", ")))
		text.Sections = append(text.Sections, after.finished()...)
	}
	return text, nil
}

// mailHeader gives a header as people read it.
func mailHeader(header mail.Header, name string) string {
	decoder := mime.WordDecoder{CharsetReader: charsetReader}
	value, err := decoder.DecodeHeader(header.Get(name))
	if err != nil {
		value = header.Get(name)
	}
	return oneLine(strings.ToValidUTF8(value, "\uFFFD"))
}

func charsetReader(charset string, from io.Reader) (io.Reader, error) {
	encoding, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return encoding.NewDecoder().Reader(from), nil
}

// mailReader goes through the parts of an e-mail.
type mailReader struct {
	in    input
	parts int

	// What it has, where no format is wanted.
	hasPlain, hasHTML bool // text that is not empty
	attached          []string

	// Where one is wanted: the text.
	format   string
	facts    Text
	outline  *outline  // of plain text
	sections []Section // of the first part that is HTML
}

func (r *mailReader) readMessage() (mail.Header, error) {
	message, err := mail.ReadMessage(bufio.NewReader(bytes.NewReader(r.in.content)))
	if err != nil {
		return nil, &BrokenError{Name: r.in.name, Format: "e-mail", Err: err}
	}
	if err := r.readPart(textproto.MIMEHeader(message.Header), message.Body, 0); err != nil {
		return nil, &BrokenError{Name: r.in.name, Format: "e-mail", Err: err}
	}
	return message.Header, nil
}

// readPart reads a part, or the parts that it holds.
func (r *mailReader) readPart(header textproto.MIMEHeader, body io.Reader, depth int) error {
	if r.parts++; r.parts > maxMailParts || depth > maxMailDepth {
		return errors.New("it has too many parts in one another")
	}
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		mediaType = Plain
	}
	disposition, names, _ := mime.ParseMediaType(header.Get("Content-Disposition")) //nolint:errcheck // then it is none
	switch {
	case strings.HasPrefix(mediaType, "multipart/") && parameters["boundary"] != "":
		return r.readParts(multipart.NewReader(body, parameters["boundary"]), depth)
	case disposition == "attachment" || !strings.HasPrefix(mediaType, "text/"):
		if name := oneLine(strings.ToValidUTF8(names["filename"], "\uFFFD")); name != "" {
			r.attached = append(r.attached, name)
		}
		return nil
	}
	text := io.LimitReader(decodeTransfer(header, body), r.in.limits.Bytes)
	if decoded, err := charsetReader(parameters["charset"], text); err == nil {
		text = io.LimitReader(decoded, r.in.limits.Bytes)
	}
	switch {
	case r.format == "":
		r.noteText(mediaType, text)
		return nil
	case mediaType == Plain && r.format == Plain:
		return r.readPlain(text)
	case mediaType == HTML && r.format == HTML && r.sections == nil:
		return r.readHTML(text)
	}
	return nil
}

// noteText notes whether a text says anything. What can't be decoded to its end counts as far as it
// could.
func (r *mailReader) noteText(mediaType string, text io.Reader) {
	lines := bufio.NewReader(text)
	for {
		character, _, err := lines.ReadRune()
		if err != nil {
			return
		}
		if !unicode.IsSpace(character) {
			r.hasPlain = r.hasPlain || mediaType == Plain
			r.hasHTML = r.hasHTML || mediaType == HTML
			return
		}
	}
}

// readPlain adds the paragraphs of a text, without the lines that quote what was written before.
func (r *mailReader) readPlain(text io.Reader) error {
	var paragraph strings.Builder
	lines := bufio.NewReader(text)
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimRight(printable(strings.ToValidUTF8(line, "\uFFFD")), " \t\n")
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			paragraph.WriteString(line + "\n")
		}
		if line == "" || err != nil || paragraph.Len() > maxMailParagraph {
			r.outline.add(Paragraph, oneLine(paragraph.String()))
			paragraph.Reset()
			if _, err := r.in.spill(r.facts, r.outline); err != nil {
				return err
			}
		}
		if err != nil { // or it can't be decoded any further
			return nil //nolint:nilerr // what was read is the text
		}
	}
}

// readHTML reads a text that is a page.
func (r *mailReader) readHTML(text io.Reader) error {
	content, err := io.ReadAll(text)
	if err != nil && len(content) == 0 {
		return err
	}
	page := r.in
	page.content = []byte(printable(strings.ToValidUTF8(string(content), "\uFFFD")))
	if r.in.emit != nil {
		page.emit = func(part Text) error {
			before := r.outline.finished()
			if len(before) > 0 {
				r.outline.takeSections()
			}
			facts := r.facts
			facts.Sections = slices.Concat(before, part.Sections)
			return r.in.emit(facts)
		}
	}
	read, err := parseHTML(page)
	r.sections = append([]Section{}, read.Sections...)
	return err
}

func (r *mailReader) readParts(parts *multipart.Reader, depth int) error {
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.readPart(part.Header, part, depth+1); err != nil {
			return err
		}
	}
}

// decodeTransfer reads a body as its Content-Transfer-Encoding says.
func decodeTransfer(header textproto.MIMEHeader, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(header.Get("Content-Transfer-Encoding"))) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	}
	return body
}
