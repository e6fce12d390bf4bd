package render

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// point is a place in the SVG's units; line a way along points.
type (
	point struct{ x, y float64 }
	line  []point
)

// curvePieces is how many lines a curve is drawn with.
const curvePieces = 24

// parsePath reads moves, lines and cubic curves with absolute coordinates.
func parsePath(d string) (line, error) {
	var out line
	text := strings.NewReplacer("M", " M ", "L", " L ", "C", " C ", ",", " ").Replace(d)
	verb, want := "", 0
	var held []float64
	for field := range strings.FieldsSeq(text) {
		if size, ok := map[string]int{"M": 2, "L": 2, "C": 6}[field]; ok {
			verb, want, held = field, size, nil
			continue
		}
		n, err := parseNumbers(field)
		if err != nil || verb == "" {
			return nil, fmt.Errorf("a path of %q", d)
		}
		if held = append(held, n...); len(held) < want {
			continue
		}
		switch {
		case verb == "C" && len(out) == 0:
			return nil, fmt.Errorf("a path that begins with a curve: %q", d)
		case verb == "C":
			out = append(out, curvePoints(out[len(out)-1], held)...)
		default:
			out = append(out, point{held[0], held[1]})
		}
		held = nil
	}
	return out, nil
}

// curvePoints returns the points of a cubic curve behind its start.
func curvePoints(from point, c []float64) line {
	out := make(line, 0, curvePieces)
	for i := 1; i <= curvePieces; i++ {
		t := float64(i) / curvePieces
		u := 1 - t
		a, b, cc, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
		out = append(out, point{a*from.x + b*c[0] + cc*c[2] + d*c[4], a*from.y + b*c[1] + cc*c[3] + d*c[5]})
	}
	return out
}

func closedLine(points []float64) line {
	var out line
	for i := 0; i+1 < len(points); i += 2 {
		out = append(out, point{points[i], points[i+1]})
	}
	return append(out, out[0])
}

func circleLine(x, y, r float64) line {
	const pieces = 32
	var out line
	for i := range pieces + 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / pieces)
		out = append(out, point{x + r*cos, y + r*sin})
	}
	return out
}

// roundedRectangle returns a rectangle with corners of a radius.
func roundedRectangle(x, y, width, height, r float64) line {
	r = min(r, width/2, height/2)
	var out line
	corners := []struct{ x, y, from float64 }{
		{x + width - r, y + r, -90}, {x + width - r, y + height - r, 0}, {x + r, y + height - r, 90}, {x + r, y + r, 180},
	}
	for _, corner := range corners {
		for step := range 7 {
			sin, cos := math.Sincos((corner.from + 15*float64(step)) * math.Pi / 180)
			out = append(out, point{corner.x + r*cos, corner.y + r*sin})
		}
	}
	return append(out, out[0])
}

func fillCanvas(canvas *image.RGBA, with color.RGBA) {
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(with), image.Point{}, draw.Src)
}

// paintOutline fills outlines.
func paintOutline(canvas *image.RGBA, outline line, with color.RGBA) {
	rasterize(canvas, []line{outline}, with)
}

func rasterize(canvas *image.RGBA, outlines []line, with color.RGBA) {
	bounds := canvas.Bounds()
	r := vector.NewRasterizer(bounds.Dx(), bounds.Dy())
	for _, outline := range outlines {
		for i, p := range outline {
			x, y := float32(p.x*scale), float32(p.y*scale)
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(canvas, bounds, image.NewUniform(with), image.Point{})
}

// strokeLine draws along a line: a strip for each piece of it. Pieces overlap where they meet,
// and are painted one by one, so that overlaps do not cancel out.
func strokeLine(canvas *image.RGBA, along line, with pen) {
	for _, piece := range splitDashes(along, with.dash) {
		for i := 1; i < len(piece); i++ {
			if strip := segmentOutline(piece[i-1], piece[i], with.width); strip != nil {
				paintWithin(canvas, strip, with.color)
			}
		}
	}
}

// paintWithin paints a small shape, in the part of the canvas that it is in.
func paintWithin(canvas *image.RGBA, outline line, with color.RGBA) {
	left, top, right, bottom := outline[0].x, outline[0].y, outline[0].x, outline[0].y
	for _, p := range outline {
		left, right, top, bottom = min(left, p.x), max(right, p.x), min(top, p.y), max(bottom, p.y)
	}
	part := image.Rect(int(left*scale)-1, int(top*scale)-1, int(right*scale)+2, int(bottom*scale)+2).Intersect(canvas.Bounds())
	if part.Empty() {
		return
	}
	within, ok := canvas.SubImage(part).(*image.RGBA)
	if !ok {
		return
	}
	moved := make(line, len(outline))
	for i, p := range outline {
		moved[i] = point{p.x - float64(part.Min.X)/scale, p.y - float64(part.Min.Y)/scale}
	}
	shifted := &image.RGBA{Pix: within.Pix, Stride: within.Stride, Rect: part.Sub(part.Min)}
	rasterize(shifted, []line{moved}, with)
}

// segmentOutline returns the outline of a piece of a line, a little longer than it so that pieces meet.
func segmentOutline(from, to point, width float64) line {
	dx, dy := to.x-from.x, to.y-from.y
	length := math.Hypot(dx, dy)
	if length == 0 {
		return nil
	}
	ux, uy := dx/length*width/2, dy/length*width/2
	const over = .3
	from, to = point{from.x - over*ux, from.y - over*uy}, point{to.x + over*ux, to.y + over*uy}
	return line{{from.x - uy, from.y + ux}, {to.x - uy, to.y + ux}, {to.x + uy, to.y - ux}, {from.x + uy, from.y - ux}}
}

// splitDashes cuts a line into its dashes.
func splitDashes(along line, dash []float64) []line {
	if len(dash) == 0 || len(along) == 0 {
		return []line{along}
	}
	var out []line
	current, left, n := line{along[0]}, dash[0], 0
	for i := 1; i < len(along); i++ {
		from, to := along[i-1], along[i]
		for {
			length := math.Hypot(to.x-from.x, to.y-from.y)
			if length < left {
				left -= length
				current = append(current, to)
				break
			}
			at := point{from.x + (to.x-from.x)*left/length, from.y + (to.y-from.y)*left/length}
			if n%2 == 0 {
				out = append(out, append(current, at))
			}
			n++
			current, left, from = line{at}, dash[n%len(dash)], at
		}
	}
	if n%2 == 0 {
		out = append(out, current)
	}
	return out
}

// fontFaces are the fonts of captions, made once.
var fontFaces = sync.OnceValues(func() (map[string]font.Face, error) {
	made := map[string]font.Face{}
	for name, of := range map[string]struct {
		ttf  []byte
		size float64
	}{"name": {gobold.TTF, 13}, "description": {goregular.TTF, 12}, "label": {goregular.TTF, 11}} {
		parsed, err := opentype.Parse(of.ttf)
		if err != nil {
			return nil, err
		}
		made[name], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: of.size * scale, DPI: 72, Hinting: font.HintingNone})
		if err != nil {
			return nil, err
		}
	}
	return made, nil
})

// drawing guards the faces, which are not for several at once.
var drawing sync.Mutex

// drawCaption draws a line of text around its middle.
func (p *painter) drawCaption(c *caption) {
	all, err := fontFaces()
	if err != nil {
		panic("picture: the fonts inside the program can't be read: " + err.Error())
	}
	drawing.Lock()
	defer drawing.Unlock()
	face, with := all["description"], faintInk
	switch {
	case c.bold:
		face, with = all["name"], inkColor
	case c.small:
		face = all["label"]
	}
	text := c.says.String()
	half := font.MeasureString(face, text) / 2
	at := fixed.Point26_6{X: fixed.Int26_6(c.x*scale*64) - half, Y: fixed.Int26_6(c.y * scale * 64)}
	drawer := font.Drawer{Dst: p.canvas, Src: image.NewUniform(with), Face: face, Dot: at}
	drawer.DrawString(text)
}
