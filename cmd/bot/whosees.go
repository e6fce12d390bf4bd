package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/app"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

type whoSeesCommand struct {
	Document string `arg:"" name:"DOCUMENT" help:"Its id (handbook:legal/contract.md), or its path."`
}

// maxWhoSees is how many documents of one path are told of.
const maxWhoSees = 20

// Run says who may read a document, and by which groups.
func (c *whoSeesCommand) Run(ctx context.Context, in *invocation) (err error) {
	library, err := in.openLibrary(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, library) }()
	storage, err := app.OpenStorage(ctx, library.Setup)
	if err != nil {
		return err
	}
	defer func() { err = closeAfter(err, storage) }()
	groups, err := app.OpenGroups(ctx, library.Setup, storage)
	if err != nil {
		return err
	}
	tables, err := groups.Tables(ctx)
	if err != nil {
		return err
	}
	found, err := c.findDocuments(ctx, library.Index)
	if err != nil {
		return err
	}
	for _, document := range found {
		printWhoSees(in.std.Out, document, tables)
	}
	return nil
}

// findDocuments returns the documents of an id or path.
func (c *whoSeesCommand) findDocuments(ctx context.Context, read index.Reader) ([]knowledge.Document, error) {
	var found []knowledge.Document
	for document, err := range read.Documents(ctx, "") {
		if err != nil {
			return nil, err
		}
		if string(document.ID) == c.Document {
			return []knowledge.Document{document}, nil
		}
		if document.Path == c.Document && len(found) < maxWhoSees {
			found = append(found, document)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no document has the id or the path %q: `cairn ask --json` shows the paths of what an answer cites", c.Document)
	}
	return found, nil
}

func printWhoSees(out io.Writer, document knowledge.Document, tables map[string]access.Table) {
	fmt.Fprintf(out, "%s (%s)\n", printable(string(document.ID)), printable(document.Title))
	switch document.Audience.OrPublic() {
	case knowledge.PublicAudience:
		fmt.Fprintln(out, "  public: everybody who can ask")
		return
	case knowledge.HiddenAudience:
		fmt.Fprintf(out, "  nobody: a .cairn.yaml of its folder can't be read, see what the last ingest says\n")
		return
	}
	told := make(map[knowledge.Principal]bool)
	for _, principal := range document.Audience.Principals() {
		printPrincipal(out, principal, tables, told, "  ")
	}
}

// printPrincipal prints a principal, and the members of a group, each group once.
func printPrincipal(out io.Writer, principal knowledge.Principal, tables map[string]access.Table, told map[knowledge.Principal]bool, indent string) {
	members := make(map[knowledge.Principal]bool)
	var sources []string
	for _, source := range slices.Sorted(maps.Keys(tables)) {
		for _, member := range tables[source][principal] {
			members[member] = true
		}
		if len(tables[source][principal]) > 0 {
			sources = append(sources, source)
		}
	}
	switch {
	case len(members) == 0:
		fmt.Fprintf(out, "%s%s%s\n", indent, principal, meaningOf(principal))
		return
	case told[principal]:
		fmt.Fprintf(out, "%s%s: as above\n", indent, principal)
		return
	}
	told[principal] = true
	fmt.Fprintf(out, "%s%s, by the %s:\n", indent, principal, strings.Join(sources, ", "))
	for _, member := range slices.Sorted(maps.Keys(members)) {
		printPrincipal(out, member, tables, told, indent+"  ")
	}
}

// meaningOf says who holds a principal that has no members in the table.
func meaningOf(principal knowledge.Principal) string {
	_, name, _ := strings.Cut(string(principal), ":")
	platform, _, onPlatform := strings.Cut(name, ":")
	switch kind := principal.Kind(); {
	case kind == knowledge.GroupPrincipal && !onPlatform:
		return ": a group without members"
	case kind == knowledge.GroupPrincipal:
		return ": who has that group or role in " + platform
	case kind == knowledge.ChannelPrincipal:
		return ": the members of that channel in " + platform
	case kind == knowledge.TeamPrincipal:
		return ": the members of that team in " + platform
	}
	return ""
}
