package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is drawn.
const (
	scale   = 2 // pixels for a unit of the SVG
	maxSide = 4000
	maxSVG  = 1 << 20
)

// The colours of a light page.
var (
	inkColor   = color.RGBA{0x1f, 0x23, 0x28, 0xff}
	paperColor = color.RGBA{0xff, 0xff, 0xff, 0xff}
	boxColor   = color.RGBA{0xf3, 0xf5, 0xf8, 0xff}
	takenColor = color.RGBA{0x0a, 0x66, 0xd0, 0xff}
	faintInk   = color.RGBA{0x57, 0x5a, 0x5e, 0xff} // ink at an opacity of 3/4
)

// PNG draws what package graph/draw writes, for where no SVG can be shown: a small part of SVG,
// paths of moves, lines and cubic curves, polygons, circles, rectangles and lines of text. Of the
// libraries in Go oksvg draws no text, and those that do bring a typesetter. The nodes (as in
// data-node) that took tells are marked, and the edges between two of them.
func PNG(svg string, took func(node string) bool) ([]byte, error) {
	if len(svg) > maxSVG {
		return nil, fmt.Errorf("draw a graph: the SVG has %d bytes, the limit is %d", len(svg), maxSVG)
	}
	p := &painter{took: took}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.takeToken(token)
		}
		if err != nil {
			return nil, fmt.Errorf("draw a graph: %w", err)
		}
	}
	if p.canvas == nil {
		return nil, errors.New("draw a graph: not an SVG")
	}
	var out bytes.Buffer
	if err := png.Encode(&out, p.canvas); err != nil {
		return nil, fmt.Errorf("draw a graph: %w", err)
	}
	return out.Bytes(), nil
}

// painter draws what it reads.
type painter struct {
	took   func(node string) bool
	canvas *image.RGBA
	groups []bool // of the elements that are open: whether they are in a node that was taken
	text   *caption
}

// caption is a line of text that is being read.
type caption struct {
	x, y  float64
	small bool
	bold  bool
	says  strings.Builder
}

func (p *painter) takeToken(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		return p.beginElement(element{token})
	case xml.CharData:
		if p.text != nil {
			p.text.says.Write(token)
		}
	case xml.EndElement:
		if p.text != nil && token.Name.Local == "text" {
			p.drawCaption(p.text)
			p.text = nil
		}
		if len(p.groups) > 0 {
			p.groups = p.groups[:len(p.groups)-1]
		}
	}
	return nil
}

// insideNode reports whether the element that is open is part of a node that was taken.
func (p *painter) insideNode() bool { return slices.Contains(p.groups, true) }

func (p *painter) beginElement(e element) error {
	node := e.attribute("data-node")
	p.groups = append(p.groups, node != "" && p.took(node))
	if e.Name.Local == "svg" && p.canvas == nil {
		width, height := e.numberOf("width"), e.numberOf("height")
		if width < 1 || height < 1 || width*scale > maxSide || height*scale > maxSide {
			return fmt.Errorf("its size is %s by %s, want 1 to %d", e.attribute("width"), e.attribute("height"), maxSide/scale)
		}
		p.canvas = image.NewRGBA(image.Rect(0, 0, int(width*scale), int(height*scale)))
		fillCanvas(p.canvas, paperColor)
		return nil
	}
	if p.canvas == nil {
		return nil
	}
	switch e.Name.Local {
	case "rect":
		p.drawArea(e, roundedRectangle(e.numberOf("x"), e.numberOf("y"), e.numberOf("width"), e.numberOf("height"), e.numberOf("rx")))
	case "polygon":
		points, err := parseNumbers(strings.ReplaceAll(e.attribute("points"), ",", " "))
		if err != nil || len(points) < 4 || len(points)%2 != 0 {
			return fmt.Errorf("a polygon of %q", e.attribute("points"))
		}
		p.drawArea(e, closedLine(points))
	case "circle":
		p.drawArea(e, circleLine(e.numberOf("cx"), e.numberOf("cy"), e.numberOf("r")))
	case "path":
		line, err := parsePath(e.attribute("d"))
		if err != nil {
			return err
		}
		look := p.edgePen(e)
		strokeLine(p.canvas, line, look)
	case "text":
		p.text = &caption{x: e.numberOf("x"), y: e.numberOf("y"), small: e.hasClass("label"), bold: e.hasClass("name")}
	}
	return nil
}

// pen is how a line is drawn.
type pen struct {
	width float64
	color color.RGBA
	dash  []float64 // lengths of lines and gaps; nil: none
}

func (p *painter) edgePen(e element) pen {
	look := pen{width: 1.2, color: faintInk}
	if from, to := e.attribute("data-from"), e.attribute("data-to"); (from == "" || p.took(from)) && p.took(to) {
		look.color, look.width = takenColor, 2
	}
	if e.hasClass("join") {
		look.width = 2.4
	}
	if e.hasClass("conditional") {
		look.dash = []float64{5, 4}
	}
	return look
}

// drawArea draws a closed shape by its class.
func (p *painter) drawArea(e element, outline line) {
	switch {
	case e.hasClass("box"):
		look := pen{width: 1, color: inkColor}
		if p.insideNode() {
			look = pen{width: 2.5, color: takenColor}
		}
		paintOutline(p.canvas, outline, boxColor)
		strokeLine(p.canvas, outline, look)
	case e.hasClass("edge"):
		strokeLine(p.canvas, outline, pen{width: 1.2, color: faintInk})
	case e.hasClass("arrow"):
		paintOutline(p.canvas, outline, faintInk)
	default:
		paintOutline(p.canvas, outline, inkColor)
	}
}

// element is a start tag.
type element struct{ xml.StartElement }

func (e element) attribute(name string) string {
	for _, attribute := range e.Attr {
		if attribute.Name.Local == name {
			return attribute.Value
		}
	}
	return ""
}

func (e element) hasClass(class string) bool {
	return slices.Contains(strings.Fields(e.attribute("class")), class)
}

// numberOf returns an attribute's number, 0 for none. Outlandish ones are cut to what fits on
// a canvas.
func (e element) numberOf(name string) float64 {
	n, err := strconv.ParseFloat(e.attribute(name), 64)
	if err != nil || n != n {
		return 0
	}
	return min(max(n, -maxSide), maxSide)
}

func parseNumbers(text string) ([]float64, error) {
	var out []float64
	for _, field := range strings.Fields(text) {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil || n != n {
			return nil, fmt.Errorf("%q is no number", field)
		}
		out = append(out, min(max(n, -maxSide), maxSide))
	}
	return out, nil
}
