package confluence

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// The beginnings of the names of groups, below the source's.
const (
	spaceGroup = "space/"
	pageGroup  = "page/"
)

const (
	maxReaders = 20_000 // of one group
	maxBulk    = 100    // people that one request asks for
)

// audienceOf gives whom a page is for: those of its nearest page with restrictions, itself first,
// or of its space.
func (c *Connector) audienceOf(in *catalog, one content) (knowledge.Audience, error) {
	if c.options.Audience != "" {
		return c.options.Audience, nil
	}
	kind, key := spaceGroup, one.Space.Key
	if restricted := in.restrictedChain(one); len(restricted) > 0 {
		kind, key = pageGroup, restricted[0].ID
	}
	made, err := atlassian.GroupOf(c.options.Source, kind, key)
	if err != nil {
		return "", err
	}
	return knowledge.NewAudience(made)
}

// restrictedChain gives a page and its ancestors, the nearest first, as far as they have
// restrictions. Who reads the page is in all of them.
func (in *catalog) restrictedChain(one content) []content {
	var chain []content
	if one.Restrictions.Read.isSet() {
		chain = append(chain, one)
	}
	for _, ancestor := range slices.Backward(one.Ancestors) {
		if found := in.byID[ancestor.ID]; found.Restrictions.Read.isSet() {
			chain = append(chain, found)
		}
	}
	return chain
}

// Access asks who may read spaces and pages with restrictions. People are known by their e-mail
// addresses; one whose address is not known is left out.
func (c *Connector) Access(ctx context.Context, groups []knowledge.Principal) (connect.Grants, error) {
	if c.options.Audience != "" {
		return connect.Grants{}, nil // the same people may read all of it
	}
	a, err := c.newAsker()
	if err != nil {
		return nil, err
	}
	defer a.Close()
	r := &readers{Connector: c, asker: a, grants: make(connect.Grants), directory: atlassian.NewDirectory(c.options.People), groups: make(map[string][]string)}
	if len(groups) > 0 {
		err = r.addNamed(ctx, groups)
	} else {
		err = r.addAll(ctx)
	}
	if err != nil {
		return nil, atlassian.ExplainAccess(c.options.URL, err)
	}
	return r.grants, nil
}

// readers asks who may read. It is one goroutine's.
type readers struct {
	*Connector
	asker     *asker
	grants    connect.Grants
	spaces    []space
	directory *atlassian.Directory
	groups    map[string][]string // accounts of groups
}

// addAll adds the groups of all spaces, and of all pages with restrictions.
func (r *readers) addAll(ctx context.Context) error {
	in, err := r.asker.listContents(ctx)
	if err != nil {
		return err
	}
	if r.spaces, err = r.asker.spaces(ctx); err != nil {
		return err
	}
	for _, one := range r.spaces {
		if err := r.addSpace(ctx, one.Key); err != nil {
			return err
		}
	}
	for _, one := range in.contents {
		if one.Restrictions.Read.isSet() {
			if err := r.addPage(ctx, in, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// addNamed adds some groups. One of a page that is not there any more has nobody.
func (r *readers) addNamed(ctx context.Context, groups []knowledge.Principal) error {
	for _, named := range groups {
		kind, key, err := atlassian.ParseGroup(r.options.Source, named, spaceGroup, pageGroup)
		if err != nil {
			return err
		}
		if kind == spaceGroup {
			if err := r.addSpace(ctx, key); err != nil {
				return err
			}
			continue
		}
		one, err := r.asker.findContent(ctx, key)
		if _, refused := atlassian.RefusedStatus(err); refused {
			r.grants[named] = nil
			continue
		}
		if err != nil {
			return err
		}
		in := newCatalog(r.asker.at.base)
		in.add(one)
		if err := r.asker.addAncestors(ctx, in, one); err != nil {
			return err
		}
		if err := r.addPage(ctx, in, one); err != nil {
			return err
		}
	}
	return nil
}

// addPage adds the group of a page with restrictions: those who may read the space, and are named by
// the page and by each ancestor with restrictions.
func (r *readers) addPage(ctx context.Context, in *catalog, one content) error {
	named, err := atlassian.GroupOf(r.options.Source, pageGroup, one.ID)
	if err != nil {
		return err
	}
	allowed, err := r.spaceAccounts(ctx, one.Space.Key)
	if err != nil {
		return err
	}
	for _, restricted := range in.restrictedChain(one) {
		accounts := make(map[string]bool)
		for _, person := range restricted.Restrictions.Read.Restrictions.User.Results {
			r.addPerson(person, accounts)
		}
		for _, group := range restricted.Restrictions.Read.Restrictions.Group.Results {
			if err := r.addGroup(ctx, group.ID, accounts); err != nil {
				return err
			}
		}
		maps.DeleteFunc(allowed, func(account string, _ bool) bool { return !accounts[account] })
	}
	r.grants[named], err = r.principals(ctx, allowed)
	return err
}

func (r *readers) addSpace(ctx context.Context, key string) error {
	named, err := atlassian.GroupOf(r.options.Source, spaceGroup, key)
	if err != nil {
		return err
	}
	accounts, err := r.spaceAccounts(ctx, key)
	if err != nil {
		return err
	}
	r.grants[named], err = r.principals(ctx, accounts)
	return err
}

// assignment is a permission in a space.
type assignment struct {
	Principal struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"principal"`
	Operation struct {
		Key    string `json:"key"`
		Target string `json:"targetType"`
	} `json:"operation"`
}

// spaceAccounts gives the accounts that may read a space; none where Confluence does not tell.
func (r *readers) spaceAccounts(ctx context.Context, key string) (map[string]bool, error) {
	accounts := make(map[string]bool)
	if r.spaces == nil {
		var err error
		if r.spaces, err = r.asker.spaces(ctx); err != nil {
			return nil, err
		}
	}
	at := slices.IndexFunc(r.spaces, func(s space) bool { return s.Key == key })
	if at < 0 {
		return accounts, nil
	}
	err := listAll(ctx, r.asker, "/api/v2/spaces/"+r.spaces[at].ID+"/permissions", url.Values{"limit": {"250"}}, func(one assignment) error {
		if one.Operation.Key != "read" || one.Operation.Target != "space" {
			return nil
		}
		switch one.Principal.Type {
		case "user":
			accounts[one.Principal.ID] = true
		case "group":
			return r.addGroup(ctx, one.Principal.ID, accounts)
		}
		return nil
	})
	if _, refused := atlassian.RefusedStatus(err); refused {
		return make(map[string]bool), nil
	}
	return accounts, err
}

// addGroup adds the accounts of a group; none where Confluence does not tell.
func (r *readers) addGroup(ctx context.Context, id string, accounts map[string]bool) error {
	if !atlassian.IsSafeName(id) {
		return nil
	}
	if _, ok := r.groups[id]; !ok {
		members, err := r.listMembers(ctx, id)
		if _, refused := atlassian.RefusedStatus(err); err != nil && !refused {
			return err
		}
		r.groups[id] = members
	}
	for _, account := range r.groups[id] {
		accounts[account] = true
	}
	return nil
}

// listMembers lists the accounts of a group, page by page.
func (r *readers) listMembers(ctx context.Context, id string) ([]string, error) {
	members := make(map[string]bool)
	for start := 0; start <= maxReaders; start += pageSize {
		var page struct {
			Results []person `json:"results"`
		}
		query := url.Values{"start": {strconv.Itoa(start)}, "limit": {strconv.Itoa(pageSize)}}
		if err := r.asker.Get(ctx, "/rest/api/group/"+id+"/membersByGroupId", query, &page); err != nil {
			return nil, err
		}
		for _, person := range page.Results {
			r.addPerson(person, members)
		}
		if len(page.Results) < pageSize {
			return slices.Sorted(maps.Keys(members)), nil
		}
	}
	return nil, errors.New("a group has too many members")
}

// addPerson adds an account, and notes its address where Confluence told it.
func (r *readers) addPerson(one person, accounts map[string]bool) {
	if one.ID == "" {
		return
	}
	accounts[one.ID] = true
	r.directory.Note(one.ID, one.Email)
}

// principals gives the people of accounts, in order.
func (r *readers) principals(ctx context.Context, accounts map[string]bool) ([]knowledge.Principal, error) {
	for some := range slices.Chunk(r.directory.Unknown(accounts), maxBulk) {
		if err := r.askAddresses(ctx, some); err != nil {
			return nil, err
		}
	}
	return r.directory.Principals(accounts), nil
}

// askAddresses asks for the e-mail addresses of accounts. Confluence tells those that people show.
func (r *readers) askAddresses(ctx context.Context, accounts []string) error {
	var page struct {
		Results []person `json:"results"`
	}
	err := r.asker.Get(ctx, "/rest/api/user/bulk", url.Values{"accountId": accounts, "limit": {strconv.Itoa(maxBulk)}}, &page)
	if _, refused := atlassian.RefusedStatus(err); err != nil && !refused {
		return err
	}
	for _, one := range page.Results {
		r.directory.Note(one.ID, one.Email)
	}
	return nil
}
