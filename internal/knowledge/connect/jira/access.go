package jira

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/atlassian"
)

// The beginnings of the names of groups, below the source's.
const (
	projectGroup = "project/"
	issueGroup   = "issue/"
)

// maxReaders is how many people of a site Jira looks at for one group.
const maxReaders = 1000

// audienceOf gives whom an issue is for: those who may read its project, or the issue where it has
// a security level.
func (c *Connector) audienceOf(one issue) (knowledge.Audience, error) {
	if c.options.Audience != "" {
		return c.options.Audience, nil
	}
	kind, key := projectGroup, one.Fields.Project.Key
	if one.isRestricted() {
		kind, key = issueGroup, one.Key
	}
	made, err := atlassian.GroupOf(c.options.Source, kind, key)
	if err != nil {
		return "", err
	}
	return knowledge.NewAudience(made)
}

// Access asks who may read projects and issues with security levels. People are known by their
// e-mail addresses; one whose address is not known is left out.
func (c *Connector) Access(ctx context.Context, groups []knowledge.Principal) (connect.Grants, error) {
	if c.options.Audience != "" {
		return connect.Grants{}, nil // the same people may read all of it
	}
	a, err := c.newAsker(ctx)
	if err != nil {
		return nil, atlassian.ExplainAccess(c.options.URL, err)
	}
	defer a.Close()
	r := &readers{Connector: c, asker: a, grants: make(connect.Grants), directory: atlassian.NewDirectory(c.options.People)}
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
	directory *atlassian.Directory
}

// addAll adds the groups of all projects, and of all issues with security levels. It fails where
// Jira tells of no project: then the account is no administrator of any.
func (r *readers) addAll(ctx context.Context) error {
	projects, err := r.asker.projects(ctx)
	if err != nil {
		return err
	}
	var refused error
	told := 0
	for _, key := range projects {
		err := r.add(ctx, projectGroup, key)
		if _, ok := atlassian.RefusedStatus(err); err != nil && !ok {
			return err
		}
		if err != nil {
			refused = err
			continue
		}
		told++
	}
	if told == 0 {
		return fmt.Errorf("%w: let the account administer the projects, or give the source an audience", refused)
	}
	listed, err := r.asker.listIssues(ctx)
	if err != nil {
		return err
	}
	for _, one := range listed {
		if !one.isRestricted() {
			continue
		}
		if err := r.addTold(ctx, issueGroup, one.Key); err != nil {
			return err
		}
	}
	return nil
}

// addNamed adds some groups.
func (r *readers) addNamed(ctx context.Context, groups []knowledge.Principal) error {
	for _, named := range groups {
		kind, key, err := atlassian.ParseGroup(r.options.Source, named, projectGroup, issueGroup)
		if err != nil {
			return err
		}
		if err := r.addTold(ctx, kind, key); err != nil {
			return err
		}
	}
	return nil
}

// addTold adds a group; nobody is in it where Jira does not tell.
func (r *readers) addTold(ctx context.Context, kind, key string) error {
	err := r.add(ctx, kind, key)
	if _, refused := atlassian.RefusedStatus(err); refused {
		return nil
	}
	return err
}

// add adds a group. Where that fails, nobody is in it.
func (r *readers) add(ctx context.Context, kind, key string) error {
	group, err := atlassian.GroupOf(r.options.Source, kind, key)
	if err != nil {
		return err
	}
	r.grants[group] = nil
	query := url.Values{"query": {""}, "permissions": {"BROWSE_PROJECTS"}, "startAt": {"0"}, "maxResults": {strconv.Itoa(maxReaders)}}
	if kind == issueGroup {
		query.Set("issueKey", key)
	} else {
		query.Set("projectKey", key)
	}
	var people []person
	if err := r.asker.Get(ctx, "/rest/api/3/user/permission/search", query, &people); err != nil {
		return err
	}
	accounts := make(map[string]bool)
	for _, one := range people {
		if one.ID != "" && one.Active && one.Type != "customer" { // customers see requests of their own alone
			accounts[one.ID] = true
			r.directory.Note(one.ID, one.Email)
		}
	}
	r.grants[group] = r.directory.Principals(accounts)
	return nil
}
