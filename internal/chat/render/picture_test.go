package render

import (
	"bytes"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

const drawn = `<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 200 120" width="200" height="120">
<title>t</title><style>.a{}</style>
<path class="edge conditional" data-from="a" data-to="b" d="M100.0 50.0 C100.0 60.0 100.0 60.0 100.0 70.0"/>
<polygon class="arrow" points="100.0,70.0 96.0,62.0 104.0,62.0"/>
<circle class="dot" cx="20.0" cy="20.0" r="6"/>
<g class="node" data-node="a"><rect class="box" x="60.0" y="10.0" width="80.0" height="40.0" rx="6"/><text class="name" x="100.0" y="34.0">first &amp; last</text></g>
<g class="node" data-node="b"><rect class="box" x="60.0" y="70.0" width="80.0" height="40.0" rx="6"/></g>
</svg>`

func TestPNG(t *testing.T) {
	made, err := PNG(drawn, func(node string) bool { return node == "a" })
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(made))
	if err != nil {
		t.Fatal(err)
	}
	if got := picture.Bounds().Size(); got.X != 400 || got.Y != 240 {
		t.Fatalf("the picture is %v", got)
	}
	at := func(x, y float64) color.RGBA {
		return color.RGBAModel.Convert(picture.At(int(x*scale), int(y*scale))).(color.RGBA)
	}
	for name, test := range map[string]struct{ got, want color.RGBA }{
		"paper":                  {at(5, 5), paperColor},
		"a dot":                  {at(20, 20), inkColor},
		"a box":                  {at(66, 45), boxColor},
		"a box that was taken":   {at(60, 30), takenColor},
		"a box that was not":     {at(66, 105), boxColor},
		"inside an arrow":        {at(100, 64), faintInk},
		"between box and border": {at(150, 60), paperColor},
	} {
		if test.got != test.want {
			t.Errorf("%s: %v, want %v", name, test.got, test.want)
		}
	}
	written := 0
	for x := 70.0; x < 130; x++ {
		for y := 20.0; y < 40; y++ {
			if c := at(x, y); c.R < 0x80 {
				written++
			}
		}
	}
	if written < 20 {
		t.Errorf("%d dark points where the name stands", written)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	for name, svg := range map[string]string{
		"nothing":   "",
		"no SVG":    "<p>hello</p>",
		"broken":    "<svg width='10' height='10'><rect",
		"huge":      "<svg width='100000' height='10'/>",
		"no size":   "<svg/>",
		"a path":    "<svg width='10' height='10'><path d='Q 1 2'/></svg>",
		"a curve":   "<svg width='10' height='10'><path d='C 1 2 3 4 5 6'/></svg>",
		"a polygon": "<svg width='10' height='10'><polygon points='1'/></svg>",
		"too long":  "<svg width='10' height='10'>" + strings.Repeat(" ", maxSVG) + "</svg>",
	} {
		if _, err := PNG(svg, func(string) bool { return true }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzPNG(f *testing.F) {
	f.Add(drawn)
	f.Add("<svg width='3' height='3'><path class='conditional' d='M 1e9 -1e9 L 2 2 C 1 1 NaN 2 3 3'/></svg>")
	f.Fuzz(func(t *testing.T, svg string) {
		made, err := PNG(svg, func(node string) bool { return len(node)%2 == 0 })
		if err != nil {
			return
		}
		if _, err := png.Decode(bytes.NewReader(made)); err != nil {
			t.Error(err)
		}
	})
}
