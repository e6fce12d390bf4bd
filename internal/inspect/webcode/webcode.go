// Package webcode follows the handler of a web app's control through the files of its project: to
// the requests that it sends, to the routes of the server that answer them, and to who owns the
// code. Files are read and never run. Modules are found by relative imports alone.
//
// Reading order: webcode.go, follow.go, route.go.
package webcode

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/repository"
	"github.com/cairn-bot/cairn/internal/repository/owners"
)

// Place is a line of a file of the project.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Trace is what a handler leads to.
type Trace struct {
	Place // of the handler, in the project
	// Steps are the functions that it calls (project.CallsFunction), the requests that they send
	// (project.Requests, whose Object is "POST /api/orders"), and the lines of the server that answer
	// them (project.Answers), in the order of the code.
	Steps    []project.Step `json:"steps,omitempty"`
	Owners   []string       `json:"owners,omitempty"`   // of the handler's file, by CODEOWNERS
	Files    []string       `json:"files,omitempty"`    // that were read
	Problems []string       `json:"problems,omitempty"` // what could not be read
}

// Follow follows the handler that begins in a line of a source, whose path is that of a source
// map: the file of the project is the one whose path ends alike.
func Follow(checkout *repository.Checkout, source string, line int) (Trace, error) {
	file, err := findFile(checkout, source)
	if err != nil {
		return Trace{}, err
	}
	f := &follower{checkout: checkout, files: make(map[string]*jsx.File)}
	f.trace.Place = Place{file, line}
	f.followLine(file, line)
	f.findOwners(file)
	return f.trace, nil
}

// findOwners tells who owns a file.
func (f *follower) findOwners(file string) {
	known, err := owners.Read(func(name string) ([]byte, error) {
		if !f.checkout.Has(name) {
			return nil, fs.ErrNotExist
		}
		return f.checkout.Read(name)
	})
	if err != nil {
		f.trace.Problems = append(f.trace.Problems, err.Error())
	}
	f.trace.Owners = known.Of(file)
}

// findFile finds the file that a source is, by the longest end of its path.
func findFile(checkout *repository.Checkout, source string) (string, error) {
	parts := strings.Split(source, "/")
	for i := range parts {
		end := strings.Join(parts[i:], "/")
		var found []string
		for _, file := range checkout.Files {
			if file.Path == end || strings.HasSuffix(file.Path, "/"+end) {
				found = append(found, file.Path)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return "", fmt.Errorf("the project %s has several files %s: %s", checkout.Name, end, strings.Join(found[:min(len(found), 5)], ", "))
		}
	}
	return "", fmt.Errorf("the project %s has no file %s: is it the page's?", checkout.Name, source)
}
