package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/inspect"
	"github.com/cairn-bot/cairn/internal/inspect/inspecttest"
	"github.com/cairn-bot/cairn/internal/inspect/session"
)

func TestASessionIsALayer(t *testing.T) {
	read, err := session.Read(inspecttest.Session(t, "button2"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := read.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "s3cret") {
		t.Errorf("a secret is kept: %s", text)
	}
	decoded, err := session.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.wavepulse.zip")
	if err := os.WriteFile(path, inspecttest.Session(t, "button2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, layer := range map[string]inspect.Layer{"read": read, "decoded": decoded, "file": session.NewFile(path)} {
		t.Run(name, func(t *testing.T) { checkShop(t, layer) })
	}
}

// checkShop checks what a layer shows of the shop with button2 selected.
func checkShop(t *testing.T, layer inspect.Layer) {
	t.Helper()
	tree, err := layer.Tree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(inspect.Names(tree), " "); names != "mainpage page_content1 list1 button1 button2 label3 mobile_tabbar1" {
		t.Errorf("names %s", names)
	}
	selected, ok := inspect.FindFirst(tree, func(e inspect.Element) bool { return e.Selected })
	if !ok || selected.Name != "button2" || selected.ID != "5" {
		t.Errorf("selected %+v", selected)
	}
	detail, err := layer.Detail(t.Context(), "5")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(detail.Properties, len(detail.Styles), detail.Styles[0]); got != "[{caption Next} {disabled false}] 2 {root backgroundColor #888888 inline inline }" {
		t.Errorf("detail %s", got)
	}
	var unknown *inspect.UnknownError
	if _, err := layer.Detail(t.Context(), "4"); !errors.As(err, &unknown) {
		t.Errorf("details that are not known: %v", err)
	}
	events, err := layer.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(events); got != "{[Login Main] [{orders POST /api/orders 500} {users GET /api/users 200}] [{error orders: no answer}]}" {
		t.Errorf("events %s", got)
	}
}

func TestHostileSessions(t *testing.T) {
	deep := strings.Repeat(`{"name":"a","children":[`, 10_000) + strings.Repeat("]}", 10_000)
	wide := `{"name":"a","children":[` + strings.Repeat(`{"name":"b"},`, 200_000) + `{}]}`
	for name, c := range map[string]struct {
		recorded map[string]any
		wrong    string // "" for none
		names    int
	}{
		"deep":        {map[string]any{"componentTree": deep}, "nested deeper", 0},
		"large":       {map[string]any{"componentTree": `"` + strings.Repeat("x", 10<<20) + `"`}, "larger than the 8 MiB", 0},
		"many":        {map[string]any{"componentTree": wide}, "", 2},
		"types":       {map[string]any{"componentTree": `{"name":["x"],"id":{"a":1},"tagName":7,"selected":"yes","children":[1,"a",null,{"name":"b"},{"children":{"x":1}}]}`}, "", 1},
		"no tree":     {map[string]any{"componentTree": "null", "logs": "{}"}, "", 0},
		"other kinds": {map[string]any{"requests": `{"a":1}`, "timelineLogs": "7", "logs": `[1,"a",{"message":{}}]`}, "", 0},
		"scripts":     {map[string]any{"componentTree": map[string]any{"name": "<script>alert(1)</script>\u202e\n@everyone", "id": 1}}, "", 1},
		"no JSON":     {map[string]any{"componentTree": "<html>"}, "read JSON", 0},
		"empty":       {map[string]any{"storage": "{}", "../../etc/passwd": "{}"}, "has no tree", 0},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := session.Read(inspecttest.Zip(t, c.recorded))
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("error %v, want %q", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if read.Root == nil {
				if c.names != 0 {
					t.Error("there is no tree")
				}
				return
			}
			names := inspect.Names(*read.Root)
			if len(names) != c.names || strings.ContainsAny(strings.Join(names, ""), "\n\u202e") {
				t.Errorf("names %q", names)
			}
			if text, err := read.Encode(); err != nil || len(text) > 300<<10 {
				t.Errorf("%d bytes: %v", len(text), err)
			}
		})
	}
	if _, err := session.Read([]byte("no zip")); err == nil {
		t.Error("what is no zip was read")
	}
}

// FuzzDecodeTree checks that trees of apps stay within their bounds.
func FuzzDecodeTree(f *testing.F) {
	f.Add([]byte(`{"name":"a","id":1,"children":[{"name":"b","properties":{"x":1},"styles":{"root":{"__trace":[{"value":{"a":1}}]}}}]}`))
	f.Add([]byte(`[{"name":"PAGE_READY","data":{"name":"Main"}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree, _, err := inspect.DecodeTree(raw)
		if err == nil {
			for _, name := range inspect.Names(tree) {
				if len([]rune(name)) > 200 {
					t.Errorf("a name of %d letters", len([]rune(name)))
				}
			}
		}
		inspect.DecodeTimeline(raw)
		inspect.DecodeRequests(raw)
		inspect.DecodeLogs(raw)
	})
}
