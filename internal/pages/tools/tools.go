// Package tools is how language models change pages: by calls that are checked against
// schemas, and fail with errors that say what to do instead. They work on a Draft; nothing is
// stored until somebody applies it.
//
// Reading order: tools.go (the draft and its calls), tools.json (the schemas), errors.go,
// content.go (what stands in nodes), then a file for each group of tools.
package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base32"
	"encoding/json"
	"fmt"

	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/schema"
	"github.com/cairn-bot/cairn/internal/pages"
	"github.com/cairn-bot/cairn/internal/pages/tree"
)

// Call is a wish of a model.
type Call struct {
	ID        string `json:"id"` // within its run
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // JSON, unless the model is at fault
}

// Versions are the earlier versions of the page that a draft is of.
type Versions interface {
	// List gives the versions, the last first, without roots.
	List(ctx context.Context) ([]pages.Version, error)
	// Load gives one of them. pages.ErrNotFound.
	Load(ctx context.Context, number int) (pages.Version, error)
}

// Naming gives a version a name, which makes a snapshot of it; "" takes the name away.
type Naming struct {
	Version int    `json:"version"`
	Name    string `json:"name,omitempty"`
	Was     string `json:"was,omitempty"` // its name before
}

// Draft is a page that is being changed.
type Draft struct {
	Title string
	Root  *tree.Node
	// Names are given to versions once the draft is applied.
	Names []Naming
	// Base is the version that the draft was made of.
	Base int
	// Seed tells the ids of nodes that are made here from those of other drafts.
	Seed     string
	Versions Versions
	// AllowsURL tells whether a link or an image that was not on the page may lead to an
	// address; nil: to none.
	AllowsURL func(address string) bool
}

// MaxResult is how long the result of a call is, in bytes.
const MaxResult = 24_000

// Apply does what a call wants, and gives its result in words for the model. An error of type
// *Error is the model's fault: it leaves the draft as it was, and is told to the model.
func (d *Draft) Apply(ctx context.Context, call Call) (string, error) {
	result, err := d.apply(ctx, call)
	if err != nil {
		return "", err
	}
	if _, err := pages.EncodeRoot(d.Root); err != nil {
		return "", &Error{Tool: call.Tool, Code: TooLarge, Reason: err.Error()}
	}
	return result, nil
}

// Replay applies calls that were applied before to the page that they were made of.
func (d *Draft) Replay(ctx context.Context, calls []Call) error {
	for _, call := range calls {
		if known, ok := byName[call.Tool]; ok && known.reads {
			continue
		}
		if _, err := d.apply(ctx, call); err != nil {
			return fmt.Errorf("apply call %s of %s again: %w", call.ID, call.Tool, err)
		}
	}
	return nil
}

func (d *Draft) apply(ctx context.Context, call Call) (string, error) {
	known, ok := byName[call.Tool]
	if !ok {
		return "", &Error{Tool: call.Tool, Code: UnknownTool, Reason: "there is no such tool"}
	}
	arguments := []byte(call.Arguments)
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = []byte("{}")
	}
	if broken := known.schema.Check(arguments); broken != nil {
		return "", &Error{Tool: call.Tool, Code: InvalidArguments, Reason: broken.Detail}
	}
	e := &edit{draft: d, title: d.Title, root: d.Root.Clone(), names: d.Names[:len(d.Names):len(d.Names)]}
	if err := known.run(ctx, e, arguments); err != nil {
		return "", locate(call.Tool, err)
	}
	if known.reads {
		return e.text, nil
	}
	if err := e.finish(call); err != nil {
		return "", locate(call.Tool, err)
	}
	d.Title, d.Root, d.Names = e.title, e.root, e.names
	return e.describe(), nil
}

// edit is a call at work, on a copy of the draft.
type edit struct {
	draft   *Draft
	title   string
	root    *tree.Node
	names   []Naming
	touched []*tree.Node // that the result shows
	text    string       // that the result says
	own     *tree.Node   // an earlier version of the page, whose addresses are known; nil for none
}

// idLetters are those of ids: ten of them for six bytes.
var idLetters = base32.NewEncoding("0123456789abcdefghijkmnpqrstuvwx").WithPadding(base32.NoPadding)

// touch has the result show nodes.
func (e *edit) touch(nodes ...*tree.Node) { e.touched = append(e.touched, nodes...) }

// finish brings the page into its form. Ids of new nodes are made of the call's, so that a call
// that is applied again gives the same page.
func (e *edit) finish(call Call) error {
	if err := tree.Normalize(e.root); err != nil {
		return err
	}
	count := 0
	tree.AssignIDs(e.root, func() string {
		count++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s/%d", e.draft.Seed, e.draft.Base, call.ID, count))
		return "n" + idLetters.EncodeToString(sum[:6])
	})
	return e.checkAddresses()
}

// checkAddresses refuses new links and images that lead to addresses which nobody gave.
func (e *edit) checkAddresses() error {
	known := make(map[string]bool)
	for _, root := range []*tree.Node{e.draft.Root, e.own} {
		if root == nil {
			continue
		}
		root.Walk(func(n, _ *tree.Node) bool {
			known[n.URL] = true
			return true
		})
	}
	var refused error
	e.root.Walk(func(n, _ *tree.Node) bool {
		if refused == nil && !known[n.URL] && (e.draft.AllowsURL == nil || !e.draft.AllowsURL(n.URL)) {
			refused = &Error{Code: UnknownAddress, Node: n.ID, Reason: fmt.Sprintf("nobody gave the address %q: use one of the page or the request, or write the words without a link", n.URL)}
		}
		return refused == nil
	})
	return refused
}

// describe gives the result of a call that changed something.
func (e *edit) describe() string {
	text := "done"
	if e.text != "" {
		text += ": " + e.text
	}
	touched := make(map[*tree.Node]bool, len(e.touched))
	for _, n := range e.touched {
		touched[n] = true
	}
	var there []*tree.Node
	e.root.Walk(func(n, _ *tree.Node) bool {
		if touched[n] {
			there = append(there, n)
		}
		return !touched[n]
	})
	if len(there) == 0 {
		return text
	}
	shown, _ := tree.CutXML(&tree.Node{Kind: tree.Root, Children: there}, MaxResult)
	return text + "\n" + shown
}

// tool is one that models may call.
type tool struct {
	llm.Tool
	schema *schema.Schema
	reads  bool // it changes nothing
	run    func(ctx context.Context, e *edit, arguments []byte) error
}

// List gives the tools as models are offered them, in the order of tools.json.
func List() []llm.Tool {
	listed := make([]llm.Tool, len(all))
	for i, one := range all {
		listed[i] = one.Tool
	}
	return listed
}

//go:embed tools.json
var described []byte

var all, byName = readTools()

// runners are what the tools do, by their names.
func runners() map[string]tool {
	return map[string]tool{
		"initPage": changes(initPage), "editTitle": changes(editTitle), "readPage": reads(readPage), "writePage": changes(writePage),
		"createNode": changes(createNode), "updateNode": changes(updateNode), "deleteNode": changes(deleteNode), "moveNode": changes(moveNode),
		"wrapNodes": changes(wrapNodes), "unwrapNode": changes(unwrapNode), "mergeNodes": changes(mergeNodes), "splitNode": changes(splitNode),
		"modifyNodes": changes(modifyNodes), "replaceText": changes(replaceText),
		"insertTableRow": changes(insertTableRow), "insertTableColumn": changes(insertTableColumn), "deleteTableRow": changes(deleteTableRow),
		"deleteTableColumn": changes(deleteTableColumn), "setTableCell": changes(setTableCell),
		"insertImage": changes(insertImage), "updateImage": changes(updateImage), "setImageAlt": changes(setImageAlt), "resizeImage": changes(resizeImage),
		"toggleListType": changes(toggleListType), "convertToList": changes(convertToList), "indent": changes(indentItem), "outdent": changes(outdentItem),
		"saveSnapshot": changes(saveSnapshot), "restoreSnapshot": changes(restoreSnapshot), "listSnapshots": reads(listSnapshots),
		"deleteSnapshot": changes(deleteSnapshot), "compareSnapshots": reads(compareSnapshots),
	}
}

// changes makes a tool of what changes a page, given its arguments.
func changes[A any](run func(ctx context.Context, e *edit, arguments A) error) tool {
	return tool{run: func(ctx context.Context, e *edit, data []byte) error {
		var arguments A
		if err := json.Unmarshal(data, &arguments); err != nil {
			return &Error{Code: InvalidArguments, Reason: err.Error()}
		}
		return run(ctx, e, arguments)
	}}
}

// reads makes a tool of what only looks at a page.
func reads[A any](run func(ctx context.Context, e *edit, arguments A) error) tool {
	made := changes(run)
	made.reads = true
	return made
}

// readTools reads tools.json, which is part of the program: it panics where it is wrong.
func readTools() ([]tool, map[string]tool) {
	var file struct {
		Defs  map[string]json.RawMessage `json:"$defs"`
		Tools []struct {
			Name, Description string
			Parameters        map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(described, &file); err != nil {
		panic(fmt.Sprintf("tools.json: %v", err))
	}
	run := runners()
	var list []tool
	named := make(map[string]tool)
	for _, one := range file.Tools {
		parameters, err := withDefs(one.Parameters, file.Defs)
		if err != nil {
			panic(fmt.Sprintf("tools.json: %s: %v", one.Name, err))
		}
		made, ok := run[one.Name]
		if !ok {
			panic(fmt.Sprintf("tools.json: nothing does %s", one.Name))
		}
		if made.schema, err = schema.Compile(one.Name, parameters); err != nil {
			panic(fmt.Sprintf("tools.json: %v", err))
		}
		made.Tool = llm.Tool{Name: one.Name, Description: one.Description, Parameters: parameters}
		list, named[one.Name] = append(list, made), made
	}
	return list, named
}

// withDefs gives a schema with those definitions that it uses, and that these use.
func withDefs(parameters, defs map[string]json.RawMessage) (json.RawMessage, error) {
	used := make(map[string]json.RawMessage)
	var use func(schema json.RawMessage)
	use = func(schema json.RawMessage) {
		for name, def := range defs {
			if _, ok := used[name]; !ok && bytes.Contains(schema, []byte(`"#/$defs/`+name+`"`)) {
				used[name] = def
				use(def)
			}
		}
	}
	use(parameters["properties"])
	if len(used) > 0 {
		data, err := json.Marshal(used)
		if err != nil {
			return nil, err
		}
		parameters["$defs"] = data
	}
	return json.Marshal(parameters)
}
