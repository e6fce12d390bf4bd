package parse

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// parseLargeHTML reads a page by pieces of its source, so that no tree of the whole page is made. A
// piece stands within the elements that are open where it begins.
func parseLargeHTML(in input) (Text, error) {
	broken := func(err error) error { return &BrokenError{Name: in.name, Format: "HTML", Err: err} }
	survey := &htmlSurvey{}
	if err := eachHTMLToken(in.content, survey.addToken); err != nil {
		return Text{}, broken(err)
	}
	head, err := html.Parse(strings.NewReader(printable(strings.ToValidUTF8(survey.head.String(), "\uFFFD"))))
	if err != nil {
		return Text{}, broken(err)
	}
	cutter := &htmlCutter{
		in: in, facts: pageFacts(head), main: survey.mainElement(),
		reader: &htmlReader{outline: newOutline(), nesting: in.limits.Nesting, sections: true},
	}
	cutter.reader.outline.links = in.links
	if err = eachHTMLToken(in.content, cutter.addToken); err == nil {
		err = cutter.readPiece()
	}
	if cutter.failed != nil {
		return Text{}, cutter.failed
	}
	if err != nil {
		return Text{}, broken(err)
	}
	cutter.facts.Sections = cutter.reader.outline.finished()
	return cutter.facts, nil
}

// htmlToken is a piece of a page's source: a tag with its number among all start tags, or text.
type htmlToken struct {
	html.Token

	raw    string
	number int
}

// maxHTMLToken bounds a tag or a text of a page, in bytes.
const maxHTMLToken = 8 << 20

// eachHTMLToken gives the tags and texts of a page to a function, without what is no part of what it
// says: comments, scripts and styles.
func eachHTMLToken(content []byte, use func(htmlToken) error) error {
	source, err := charset.NewReader(bytes.NewReader(content), "")
	if err != nil {
		return err
	}
	tokens := html.NewTokenizer(source)
	tokens.SetMaxBuf(maxHTMLToken)
	unseen := atom.Atom(0)
	for number := 0; ; {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
		raw := string(tokens.Raw())
		token := htmlToken{Token: tokens.Token(), raw: raw}
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			number++
			token.number = number
		}
		switch {
		case kind == html.CommentToken, kind == html.DoctypeToken, unseen != 0 && token.DataAtom != unseen:
			continue
		case token.DataAtom == atom.Script || token.DataAtom == atom.Style:
			unseen = 0
			if kind == html.StartTagToken {
				unseen = token.DataAtom
			}
			continue
		}
		if err := use(token); err != nil {
			return err
		}
	}
}

// openElements are the elements that are open at a place of a page, as far as its tags say.
type openElements []htmlToken

// addTag opens or closes elements, and gives those that it closed.
func (o *openElements) addTag(token htmlToken) (closed []htmlToken) {
	switch {
	case token.Type == html.StartTagToken && !slices.Contains(voidElements, token.DataAtom):
		closed = o.closeImplied(token.DataAtom)
		*o = append(*o, token)
	case token.Type == html.EndTagToken:
		for i := len(*o) - 1; i >= 0; i-- {
			if (*o)[i].Data == token.Data {
				closed = slices.Clone((*o)[i:])
				*o = (*o)[:i]
				break
			}
		}
	}
	return closed
}

// closeImplied closes a paragraph that another block ends, and an item or cell that another one
// follows.
func (o *openElements) closeImplied(next atom.Atom) (closed []htmlToken) {
	for len(*o) > 0 {
		last := (*o)[len(*o)-1].DataAtom
		if last != next && (last != atom.P || !slices.Contains(impliedEnds, next)) || !slices.Contains(impliedEnds, last) {
			break
		}
		closed = append(closed, (*o)[len(*o)-1])
		*o = (*o)[:len(*o)-1]
		if last == next {
			break
		}
	}
	return closed
}

var (
	voidElements = []atom.Atom{
		atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr,
	}
	impliedEnds = []atom.Atom{atom.P, atom.Li, atom.Td, atom.Th, atom.Tr, atom.Dt, atom.Dd, atom.Option, atom.Ul, atom.Ol, atom.Div, atom.Table, atom.Pre}
	// frames are elements that a page may be cut in: those around its blocks.
	frames = []atom.Atom{
		atom.Html, atom.Body, atom.Main, atom.Article, atom.Section, atom.Div, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Thead, atom.Tbody,
		atom.Blockquote, atom.Details, atom.Center, atom.Form,
	}
)

// maxHead bounds what is read of a page's head, in bytes.
const maxHead = 64 << 10

// htmlSurvey finds which element of a page holds what it is about, as mainContent does.
type htmlSurvey struct {
	open     openElements
	head     strings.Builder
	inBody   bool
	marked   []int // numbers of main elements that are open or have text
	articles []int // numbers of article elements
	texts    map[int]bool
}

func (s *htmlSurvey) addToken(token htmlToken) error {
	if s.inBody = s.inBody || token.DataAtom == atom.Body; !s.inBody && s.head.Len() < maxHead {
		s.head.WriteString(token.raw)
	}
	s.open.addTag(token)
	if token.number > 0 && (token.DataAtom == atom.Main || tokenAttribute(token, "role") == "main") {
		s.marked = append(s.marked, token.number)
	} else if token.number > 0 && token.DataAtom == atom.Article {
		s.articles = append(s.articles, token.number)
	}
	if token.Type == html.TextToken && strings.TrimSpace(token.Data) != "" {
		if s.texts == nil {
			s.texts = make(map[int]bool)
		}
		for _, element := range s.open {
			if element.DataAtom == atom.Main || element.DataAtom == atom.Article || tokenAttribute(element, "role") == "main" {
				s.texts[element.number] = true
			}
		}
	}
	return nil
}

// mainElement is the number of the start tag of the main element, or of an article that is alone; 0
// for the whole body.
func (s *htmlSurvey) mainElement() int {
	for _, number := range s.marked {
		if s.texts[number] {
			return number
		}
	}
	if len(s.articles) == 1 && s.texts[s.articles[0]] {
		return s.articles[0]
	}
	return 0
}

func tokenAttribute(token htmlToken, key string) string {
	for _, a := range token.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// htmlCutter cuts a page into pieces and reads each.
type htmlCutter struct {
	in     input
	facts  Text
	main   int // see htmlSurvey.mainElement
	reader *htmlReader
	failed error // not for the page's source

	open    openElements
	inside  int // how many elements were open where the main one began, and that one; 0 outside of it
	header  tableHeader
	piece   strings.Builder
	size    int // of what the piece has besides the tags that it begins with
	started bool
}

// tableHeader is the source of the first row of the table at hand, under which the rows of the next
// piece stand.
type tableHeader struct {
	depth int // how many elements are open around its rows; 0: no table
	row   strings.Builder
	whole bool
}

// maxHeaderRow bounds the row that is repeated, in bytes.
const maxHeaderRow = 16 << 10

func (c *htmlCutter) addToken(token htmlToken) error {
	closed := c.open.addTag(token)
	if len(c.open) > c.in.limits.Nesting {
		c.failed = &TooLargeError{Name: c.in.name, What: "levels of nesting", Limit: int64(c.in.limits.Nesting)}
		return c.failed
	}
	if c.main > 0 && !c.started {
		if c.started = token.number == c.main; c.started {
			c.inside = len(c.open)
		}
		return nil
	}
	if c.main > 0 && len(c.open) < c.inside {
		return nil // behind it
	}
	c.header.addToken(token, closed, len(c.open))
	c.piece.WriteString(token.raw)
	c.size += len(token.raw)
	if int64(c.size) >= c.in.limits.Part && (token.Type == html.EndTagToken && c.isBetweenBlocks() || int64(c.size) >= maxUncut*c.in.limits.Part) {
		return c.cut()
	}
	return nil
}

// isBetweenBlocks says whether the elements that are open are frames of blocks.
func (c *htmlCutter) isBetweenBlocks() bool {
	for _, element := range c.open[c.inside:] {
		if !slices.Contains(frames, element.DataAtom) {
			return false
		}
	}
	return true
}

// cut reads the piece, and begins the next within the elements that are open.
func (c *htmlCutter) cut() error {
	if err := c.readPiece(); err != nil {
		return err
	}
	for i, element := range c.open[c.inside:] {
		again := html.Token{Type: html.StartTagToken, DataAtom: element.DataAtom, Data: element.Data}
		for _, a := range element.Attr {
			if a.Key != "id" { // it names the beginning
				again.Attr = append(again.Attr, a)
			}
		}
		c.piece.WriteString(again.String())
		if element.DataAtom == atom.Table && c.header.whole && c.header.depth == c.inside+i+1 {
			c.piece.WriteString(c.header.row.String())
		}
	}
	return nil
}

func (c *htmlCutter) readPiece() error {
	root, err := html.Parse(strings.NewReader(printable(strings.ToValidUTF8(c.piece.String(), "\uFFFD"))))
	c.piece.Reset()
	c.size = 0
	if err != nil {
		return err
	}
	for node := range root.Descendants() {
		if node.DataAtom == atom.Body {
			c.reader.children(node, 0)
			break
		}
	}
	c.reader.flush()
	c.reader.lists, c.reader.marker = nil, ""
	if c.reader.tooDeep {
		c.failed = &TooLargeError{Name: c.in.name, What: "levels of nesting", Limit: int64(c.in.limits.Nesting)}
		return c.failed
	}
	_, c.failed = c.in.spill(c.facts, c.reader.outline)
	return c.failed
}

// addToken keeps the first row of a table. closed is what the token closed, open how many elements
// are open behind it.
func (h *tableHeader) addToken(token htmlToken, closed []htmlToken, open int) {
	switch {
	case token.Type == html.StartTagToken && token.DataAtom == atom.Table:
		h.depth, h.whole = open, false
		h.row.Reset()
		return
	case h.depth == 0 || h.whole:
		if open < h.depth {
			h.depth, h.whole = 0, false
		}
		return
	case h.row.Len() > maxHeaderRow || open < h.depth:
		h.depth = 0
		return
	}
	isRow := token.DataAtom == atom.Tr && token.Type == html.StartTagToken
	if isRow && h.row.Len() > 0 { // the row's end was left out
		h.whole = true
		return
	}
	if isRow || h.row.Len() > 0 {
		h.row.WriteString(token.raw)
	}
	h.whole = slices.ContainsFunc(closed, func(t htmlToken) bool { return t.DataAtom == atom.Tr })
}
