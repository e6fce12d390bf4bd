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
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// Bounds of an e-mail.
const (
	maxMailParts = 200
	maxMailDepth = 10
)

// parseMail reads an e-mail: who wrote it to whom and when, its text, and the names of what is
// attached. Lines that quote what was written before are left out.
func parseMail(in input) (Text, error) {
	message, err := mail.ReadMessage(bufio.NewReader(bytes.NewReader(in.content)))
	if err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "e-mail", Err: err}
	}
	reader := &mailReader{in: in}
	if err := reader.readPart(textproto.MIMEHeader(message.Header), message.Body, 0); err != nil {
		return Text{}, &BrokenError{Name: in.name, Format: "e-mail", Err: err}
	}
	text := Text{Title: mailHeader(message.Header, "Subject")}
	out := newOutline()
	var facts []string
	for _, name := range []string{"From", "To", "Date"} {
		if value := mailHeader(message.Header, name); value != "" {
			facts = append(facts, name+": "+value)
		}
	}
	out.add(Paragraph, strings.Join(facts, " · "))
	switch {
	case strings.TrimSpace(reader.plain.String()) != "":
		for _, paragraph := range strings.Split(dropQuoted(reader.plain.String()), "\n\n") {
			out.add(Paragraph, oneLine(paragraph))
		}
		text.Sections = out.finished()
	case len(reader.html) > 0:
		page := in
		page.content = reader.html
		read, err := parseHTML(page)
		if err != nil {
			return Text{}, err
		}
		text.Sections = append(out.finished(), read.Sections...)
	}
	if len(reader.attached) > 0 {
		after := newOutline()
		after.add(Paragraph, "Attached: "+oneLine(strings.Join(reader.attached, ", ")))
		text.Sections = append(text.Sections, after.finished()...)
	}
	if len(text.Sections) == 0 {
		text.Sections = out.finished()
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

// mailReader collects the texts of an e-mail.
type mailReader struct {
	in       input
	parts    int
	plain    strings.Builder
	html     []byte
	attached []string
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
	content, err := io.ReadAll(io.LimitReader(decodeTransfer(header, body), r.in.limits.Bytes))
	if err != nil && len(content) == 0 {
		return err
	}
	if decoded, err := charsetReader(parameters["charset"], bytes.NewReader(content)); err == nil {
		if content, err = io.ReadAll(io.LimitReader(decoded, r.in.limits.Bytes)); err != nil {
			return err
		}
	}
	content = []byte(printable(strings.ToValidUTF8(strings.ReplaceAll(string(content), "\r\n", "\n"), "\uFFFD")))
	switch {
	case mediaType == HTML && r.html == nil:
		r.html = content
	case mediaType == Plain:
		r.plain.Write(append(content, '\n', '\n'))
	}
	return nil
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

// dropQuoted leaves out the lines that quote what was written before.
func dropQuoted(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			kept = append(kept, strings.TrimRight(line, " \t"))
		}
	}
	return strings.Join(kept, "\n")
}
