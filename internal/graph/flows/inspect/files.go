package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect/jsx"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/owners"
	"github.com/cairn-bot/cairn/internal/shorten"
)

// maxAllFiles is how much of a page's files is read, in bytes.
const maxAllFiles = 2 << 20

// readPageFiles reads the files of the page, of its partials and those that all pages share. A
// missing one is recorded, and the rest is used.
func (f *Flow) readPageFiles(ctx context.Context, step graph.Step[State]) (result graph.Result[State], err error) {
	s := step.State
	if s.WebPage.Address != "" {
		return f.followHandlers(ctx, s)
	}
	checkout, err := f.options.Open(ctx, s.Project)
	if refused, is := errors.AsType[*repository.RefusedError](err); is {
		return graph.Update(complete(ctx, StepRetrieve, flows.Failed), failure.Set(refused.Text)), nil
	}
	if err != nil {
		return graph.Result[State]{}, fmt.Errorf("open the project: %w", err)
	}
	defer func() { err = errors.Join(err, checkout.Close()) }()
	r := &fileReader{flow: f, checkout: checkout, contents: make(map[string]string)}
	var shown []project.Page
	if s.Page != nil {
		r.readPage(*s.Page)
		shown = f.reader.PartsOf(s.Page.Component, r.contents[s.Page.Component], s.Pages)
		for _, part := range shown {
			r.readPage(part)
		}
	}
	if s.Shared.Variables != "" {
		r.readFile(s.Shared.Variables)
	}
	for _, style := range s.Shared.Styles {
		r.readFile(style)
	}
	if ctx.Err() != nil {
		return graph.Result[State]{}, fmt.Errorf("read the page's files: %w", ctx.Err())
	}
	owned := r.findOwners()
	status := flows.Completed
	if len(r.contents) == 0 {
		status = flows.Failed
	}
	return graph.Update(
		pageFiles.Set(r.contents), parts.Set(shown), toolUsage.Set(r.uses), problems.Set(r.problems), complete(ctx, StepRetrieve, status),
		commit.Set(checkout.Commit), web.Set(checkout.Web), fileOwners.Set(owned),
	), nil
}

// fileReader reads files of a project as a recorded tool.
type fileReader struct {
	flow     *Flow
	checkout *repository.Checkout
	contents map[string]string
	bytes    int
	uses     []ToolUse
	problems []Problem
}

func (r *fileReader) readPage(page project.Page) {
	for _, name := range page.Files() {
		r.readFile(name)
	}
	if page.Script == "" {
		r.recordMissing(page.Name+".script", errors.New("there is no such file"), "what its handlers do is not known")
	}
	if page.Variables == "" {
		r.recordMissing(page.Name+".variables", errors.New("there is no such file"), "the app's variables are used")
	}
}

func (r *fileReader) readFile(name string) {
	if _, ok := r.contents[name]; ok {
		return
	}
	started := r.flow.options.Now()
	content, err := r.readWhole(name)
	use := ToolUse{Tool: "read_file", Arguments: name, Duration: r.flow.options.Now().Sub(started)}
	if err != nil {
		use.Error = shorten.Line(err.Error(), maxError)
		r.uses = append(r.uses, use)
		r.recordMissing(name, err, "the answer goes without it")
		return
	}
	use.Result = fmt.Sprintf("%d bytes", len(content))
	r.uses = append(r.uses, use)
	r.contents[name] = content
	r.bytes += len(content)
}

func (r *fileReader) readWhole(name string) (string, error) {
	at := slices.IndexFunc(r.checkout.Files, func(file repository.File) bool { return file.Path == name })
	switch {
	case at < 0:
		return "", errors.New("there is no such file")
	case r.checkout.Files[at].Size > jsx.MaxBytes:
		return "", fmt.Errorf("larger than the %d KiB that are read", jsx.MaxBytes>>10)
	case r.bytes+int(r.checkout.Files[at].Size) > maxAllFiles:
		return "", fmt.Errorf("the files are larger together than the %d MiB that are read", maxAllFiles>>20)
	}
	content, err := r.checkout.Read(name)
	return string(content), err
}

func (r *fileReader) recordMissing(name string, err error, recovery string) {
	r.problems = append(r.problems, Problem{Step: nodeFiles, Error: fmt.Sprintf("%s: %s", name, shorten.Line(err.Error(), maxError)), RecoveryAction: recovery})
}

// findOwners are who owns the files that were read, by CODEOWNERS.
func (r *fileReader) findOwners() map[string][]string {
	known, err := owners.Read(func(name string) ([]byte, error) {
		if !r.checkout.Has(name) {
			return nil, fs.ErrNotExist
		}
		return r.checkout.Read(name)
	})
	if err != nil {
		r.recordMissing("CODEOWNERS", err, "who owns the files is not known")
		return nil
	}
	found := make(map[string][]string)
	for file := range r.contents {
		if by := known.Of(file); len(by) > 0 {
			found[file] = by
		}
	}
	return found
}
