package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/pagestest"
	"github.com/cairn-bot/cairn/internal/pages/tools"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// memory is the versions of a page in a test.
type memory []pages.Version

func (m memory) List(context.Context) ([]pages.Version, error) { return m, nil }

func (m memory) Load(_ context.Context, number int) (pages.Version, error) {
	for _, version := range m {
		if version.Number == number {
			return version, nil
		}
	}
	return pages.Version{}, pages.ErrNotFound
}

const sample = "# Leave\n\nEvery employee has **27 days** of [leave](https://example.com/leave).\n\n> Ask Maria.\n\n- one\n- two\n  - nested\n- three\n\n```go\nx := 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n![A map](https://example.com/map.png)\n\nThe end."

func newDraft(t testing.TB, markdown string) *tools.Draft {
	t.Helper()
	root := pagestest.Root(t, markdown)
	return &tools.Draft{Title: "Leave", Root: root, Base: 2, Seed: "run", Versions: memory{
		{Number: 2, Title: "Leave", Root: root}, {Number: 1, Title: "Old", Name: "first", Root: pagestest.Root(t, "See [this](https://example.com/old).")},
	}}
}

// TestAFailedCallLeavesTheDraft calls tools at random with arguments that may be wrong: the page
// stays one that can be stored, a call that fails changes nothing, and what was applied gives the
// same page when it is applied again.
func TestAFailedCallLeavesTheDraft(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	const rounds, calls = 25, 25
	for range rounds {
		draft := newDraft(t, sample)
		again := *draft
		again.Root = draft.Root.Clone()
		var applied []tools.Call
		for i := range calls {
			call := randomCall(random, draft.Root)
			call.ID = fmt.Sprint("call", i)
			title, before := draft.Title, string(tree.Encode(draft.Root))
			_, err := draft.Apply(t.Context(), call)
			if err == nil {
				applied = append(applied, call)
			} else if _, ok := errors.AsType[*tools.Error](err); !ok {
				t.Fatalf("%+v: %v", call, err)
			} else if draft.Title != title || string(tree.Encode(draft.Root)) != before {
				t.Fatalf("%+v failed with %v, and changed the page", call, err)
			}
			checkDraft(t, call, draft.Root)
		}
		if err := again.Replay(t.Context(), applied); err != nil {
			t.Fatal(err)
		}
		if got, want := string(tree.Encode(again.Root)), string(tree.Encode(draft.Root)); got != want || again.Title != draft.Title {
			t.Fatalf("applied again it is\n%s\nnot\n%s", got, want)
		}
	}
}

// checkDraft checks that a page is in its form, with ids.
func checkDraft(t *testing.T, call tools.Call, root *tree.Node) {
	t.Helper()
	read, err := tree.Decode(tree.Encode(root))
	if err != nil {
		t.Fatalf("after %+v: %v", call, err)
	}
	if got, want := string(tree.Encode(read)), string(tree.Encode(root)); got != want {
		t.Fatalf("after %+v it is read as\n%s\nnot\n%s", call, got, want)
	}
	known := make(map[string]bool)
	root.Walk(func(n, _ *tree.Node) bool {
		if n.Kind != tree.Root && n.Kind != tree.LineBreak && n.Kind != tree.Tab && (n.ID == "" || known[n.ID]) {
			t.Fatalf("after %+v: %s has the id %q", call, n.Kind, n.ID)
		}
		known[n.ID] = true
		return true
	})
}

// randomCall makes a call of what its schema allows, mostly with ids of the page.
func randomCall(random *rand.Rand, root *tree.Node) tools.Call {
	all := tools.List()
	one := all[random.IntN(len(all))]
	var parameters struct {
		Defs       map[string]json.RawMessage `json:"$defs"`
		Properties map[string]json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(one.Parameters, &parameters); err != nil {
		panic(err)
	}
	g := &generator{random, parameters.Defs, one.Name, root}
	values := make(map[string]any)
	for name, schema := range parameters.Properties {
		if random.IntN(2) == 0 && name != "children" || strings.Contains(strings.Join(parameters.Required, " "), name) {
			values[name] = g.value(name, schema, 0)
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		panic(err)
	}
	return tools.Call{Tool: one.Name, Arguments: string(data)}
}

type generator struct {
	*rand.Rand
	defs map[string]json.RawMessage
	tool string
	root *tree.Node
}

// fitting are the kinds of nodes that arguments, and else tools, want.
var fitting = map[string]tree.Kind{
	"tableId": tree.Table, "rowId": tree.TableRow, "referenceRowId": tree.TableRow, "cellId": tree.TableCell, "listId": tree.List,
	"indent": tree.ListItem, "outdent": tree.ListItem, "updateImage": tree.Image, "setImageAlt": tree.Image, "resizeImage": tree.Image,
}

// id picks the id of a node, mostly of a kind that fits.
func (g *generator) id(name string) string {
	kind, ok := fitting[name]
	if !ok {
		kind = fitting[g.tool]
	}
	ids := []string{"none"}
	strict := g.IntN(5) > 0
	g.root.Walk(func(n, _ *tree.Node) bool {
		if n.ID != "" && (kind == "" || n.Kind == kind || !strict) {
			ids = append(ids, n.ID)
		}
		return true
	})
	return ids[min(g.IntN(len(ids))+g.IntN(2), len(ids)-1)]
}

// neighbours picks nodes that stand side by side.
func (g *generator) neighbours() []any {
	var parents []*tree.Node
	g.root.Walk(func(n, _ *tree.Node) bool {
		if len(n.Children) > 1 {
			parents = append(parents, n)
		}
		return true
	})
	if len(parents) == 0 {
		return []any{"none"}
	}
	children := parents[g.IntN(len(parents))].Children
	at := g.IntN(len(children) - 1)
	ids := []any{}
	for _, n := range children[at : at+2] {
		if n.ID != "" {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

// value makes a value of a schema.
func (g *generator) value(name string, raw json.RawMessage, depth int) any {
	var schema struct {
		Ref        string `json:"$ref"`
		Type       any
		Enum       []any
		Properties map[string]json.RawMessage
		Items      json.RawMessage
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		panic(err)
	}
	if def, ok := strings.CutPrefix(schema.Ref, "#/$defs/"); ok {
		if def == "id" {
			return g.id(name)
		}
		if def == "ids" {
			return g.neighbours()
		}
		if def == "version" {
			return g.pick("first", "1", "9", "nothing")
		}
		return g.value(name, g.defs[def], depth+1)
	}
	if schema.Enum != nil {
		return schema.Enum[g.IntN(len(schema.Enum))]
	}
	kind, _ := schema.Type.(string)
	if several, ok := schema.Type.([]any); ok {
		if kind, ok = several[g.IntN(len(several))].(string); !ok || kind == "null" {
			return nil
		}
	}
	switch kind {
	case "string":
		return g.pick("27", "days", "", "*a* b", "# x\n\n- y", "(", "$1", "https://example.com/leave", "<b>&", "| q |\n|---|\n| r |", "bold", "a\nb", "e", "one", "<root><p>x</p></root>")
	case "integer", "number":
		return g.IntN(5) + 1
	case "boolean":
		return g.IntN(2) == 0
	case "array":
		if name == "nodeIds" {
			return g.neighbours()
		}
		values := []any{}
		if depth > 4 {
			return values
		}
		for range g.IntN(3) + 1 {
			values = append(values, g.value(name, schema.Items, depth+1))
		}
		return values
	case "object":
		values := make(map[string]any)
		for name, of := range schema.Properties {
			if g.IntN(3) == 0 || name == "type" || name == "action" || name == "operations" || g.tool == "modifyNodes" && depth < 3 && name != "children" && name != "attributes" {
				values[name] = g.value(name, of, depth+1)
			}
		}
		return values
	}
	return nil
}

// FuzzApply calls tools with whatever a model may write.
func FuzzApply(f *testing.F) {
	f.Add("createNode", `{"type":"paragraph","content":"x"}`)
	f.Add("writePage", `<root><li>x</li></root>`)
	f.Add("replaceText", `{"searchText":"(","useRegex":true,"newText":"$1","replaceAll":true}`)
	f.Add("modifyNodes", `{"operations":[{"action":"remove","nodeIds":["n1"]}]}`)
	f.Add("none", "\xff")
	f.Fuzz(func(t *testing.T, name, arguments string) {
		draft := newDraft(t, "# a\n\n- b")
		before := string(tree.Encode(draft.Root))
		if _, err := draft.Apply(t.Context(), tools.Call{ID: "c", Tool: name, Arguments: arguments}); err != nil && string(tree.Encode(draft.Root)) != before {
			t.Errorf("%v, and the page changed", err)
		}
		if _, err := tree.Decode(tree.Encode(draft.Root)); err != nil {
			t.Error(err)
		}
	})
}
