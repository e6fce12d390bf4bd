package modules_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/chat/render"
	"github.com/cairn-bot/cairn/internal/repository/modules"
)

// size is that of a picture.
var size = regexp.MustCompile(`width="(\d{1,4})" height="(\d{1,4})">`)

// drawn draws a map and checks that it is XML of a size that a chat can show as a picture.
func drawn(t *testing.T, m modules.Map) string {
	t.Helper()
	svg := m.SVG(`who <imports> & "whom"`)
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, side := range size.FindStringSubmatch(svg)[1:] {
		if n, err := strconv.Atoi(side); err != nil || n > 2000 {
			t.Errorf("a side of %s: %v", side, err)
		}
	}
	return svg
}

func TestSVGMarksCycles(t *testing.T) {
	svg := drawn(t, build(modules.Named{}, map[string]string{
		"a/x.js": "import '../b/x'", "b/x.js": "import '../a/x'; import '../c<&>/x'", "c<&>/x.js": "",
	}))
	made, err := render.PNG(svg, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(made)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(svg, `class="edge cycle join"`); got != 2 {
		t.Errorf("%d edges are marked as parts of a cycle:\n%s", got, svg)
	}
	if strings.Count(svg, "· cycle") != 2 || !strings.Contains(svg, `<path class="edge" data-from="b" data-to="c&lt;&amp;&gt;"`) {
		t.Errorf("%s", svg)
	}
}

func TestSVGStaysSmall(t *testing.T) {
	for name, path := range map[string]string{"deep": "a%d/b/c/d/e", "wide": "a%d", "chain": "x/y/a%d"} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for i := range 300 {
				files[fmt.Sprintf(path, i)+"/x.js"] = fmt.Sprintf("import '%s/x'", strings.Repeat("../", strings.Count(path, "/")+1)+fmt.Sprintf(path, i+1))
			}
			svg := drawn(t, build(modules.Named{}, files))
			if boxes := strings.Count(svg, "<rect"); boxes == 0 || boxes > 28 {
				t.Errorf("%d boxes", boxes)
			}
			if name == "wide" && !strings.Contains(svg, "272 smaller folders are not drawn") {
				t.Error("what is not drawn is not said")
			}
		})
	}
}

func TestSVGOfNothing(t *testing.T) {
	if svg := drawn(t, modules.Map{}); strings.Contains(svg, "<rect") {
		t.Error(svg)
	}
}
