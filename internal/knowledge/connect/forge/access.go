package forge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

const maxReaders = 20_000 // of one repository

// GroupOf is the group of those who may read a private repository of a source.
func GroupOf(source knowledge.SourceID, repository string) (knowledge.Principal, error) {
	group, err := knowledge.Group(string(source) + ":" + repository)
	if err != nil {
		return "", fmt.Errorf("the group of %s: %w", repository, err)
	}
	return group, nil
}

func (c *Connector) groupPrefix() string { return string(c.options.Source) + ":" }

// Access asks who may read private repositories. People are known by their addresses; one whose
// address is not known is left out. A repository that the forge refuses to tell of has nobody.
func (c *Connector) Access(ctx context.Context, groups []knowledge.Principal) (connect.Grants, error) {
	if c.options.Audience != "" {
		return connect.Grants{}, nil // the same people may read all of it
	}
	at, err := c.place()
	if err != nil {
		return nil, err
	}
	a := &readers{Connector: c, asker: c.newAsker(at), profiles: loadProfiles(c.options.Folder)}
	defer a.asker.client.Close()
	grants, err := a.grants(ctx, at, groups)
	if err != nil {
		return nil, fmt.Errorf("ask who may read %s: %w", c.options.URL, explainError(err))
	}
	return grants, a.profiles.save(c.options.Folder)
}

// readers asks who may read repositories.
type readers struct {
	*Connector
	asker    *asker
	profiles *profiles
}

func (a *readers) grants(ctx context.Context, at place, groups []knowledge.Principal) (connect.Grants, error) {
	grants := make(connect.Grants)
	for _, group := range groups {
		name, ok := strings.CutPrefix(string(group), string(knowledge.GroupPrincipal)+":"+a.groupPrefix())
		if !ok || !isSafeName(name) {
			return nil, fmt.Errorf("group %s is none of source %s", group, a.options.Source)
		}
		answer, err := a.asker.get(ctx, a.asker.speaks.repositoryPath(name))
		if _, refused := refusedStatus(err); refused {
			grants[group] = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		found, err := a.speaks.readRepository(answer.Body)
		if err != nil {
			return nil, err
		}
		if grants[group], err = a.members(ctx, found); err != nil {
			return nil, err
		}
	}
	if len(groups) > 0 {
		return grants, nil
	}
	repositories, err := a.asker.repositories(ctx, at)
	if err != nil {
		return nil, err
	}
	for _, r := range repositories {
		if !r.Private {
			continue
		}
		group, err := GroupOf(a.options.Source, r.Name)
		if err != nil {
			return nil, err
		}
		if grants[group], err = a.members(ctx, r); err != nil {
			return nil, err
		}
	}
	return grants, nil
}

// members gives those who may read a repository, in order; nobody where the forge does not tell.
func (a *readers) members(ctx context.Context, r repository) ([]knowledge.Principal, error) {
	people := make(map[knowledge.Principal]bool)
	for _, list := range a.speaks.readerLists(r) {
		if err := a.readList(ctx, list, people); err != nil {
			if _, refused := refusedStatus(err); refused {
				return nil, nil
			}
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(people)), nil
}

func (a *readers) readList(ctx context.Context, list readerList, people map[knowledge.Principal]bool) error {
	for raw, err := range a.asker.list(ctx, list.path) {
		if _, refused := refusedStatus(err); refused && list.instead != nil {
			return a.addReader(ctx, *list.instead, people)
		}
		if err != nil {
			return err
		}
		if raw == nil || len(people) > maxReaders {
			return errors.New("its list of people is too large")
		}
		if list.more != nil {
			if next, ok := list.more(raw); ok {
				if err := a.readList(ctx, next, people); err != nil {
					return err
				}
			}
			continue
		}
		person, err := list.read(raw)
		if err != nil {
			return err
		}
		if err := a.addReader(ctx, person, people); err != nil {
			return err
		}
	}
	return nil
}

func (a *readers) addReader(ctx context.Context, person account, people map[knowledge.Principal]bool) error {
	if !person.Active || person.Name == "" {
		return nil
	}
	address, err := a.addressOf(ctx, person)
	if err != nil || address == "" {
		return err
	}
	if principal, err := knowledge.User(address); err == nil { // another one nobody can hold
		people[principal] = true
	}
	return nil
}

// addressOf gives the address of an account: as it is configured, as the list tells it, or as the
// account's own page does.
func (a *readers) addressOf(ctx context.Context, person account) (string, error) {
	for name, address := range a.options.People {
		if strings.EqualFold(name, person.Name) {
			return address, nil
		}
	}
	if isAddress(person.Email) {
		return person.Email, nil
	}
	path := a.speaks.profilePath(person)
	if path == "" {
		return "", nil
	}
	now := a.options.Now()
	if known, ok := a.profiles.People[person.Name]; ok && now.Sub(known.Asked) < profileAfter {
		return known.Email, nil
	}
	if a.profiles.asked++; a.profiles.asked > maxProfiles {
		return "", nil
	}
	answer, err := a.asker.get(ctx, path)
	if _, refused := refusedStatus(err); refused {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var read gitLabUser
	if err := decode(answer.Body, &read); err != nil {
		return "", err
	}
	found := ""
	for _, address := range []string{read.Email, read.PublicEmail} {
		if found == "" && isAddress(address) {
			found = address
		}
	}
	a.profiles.People[person.Name] = profile{Email: found, Asked: now}
	return found, nil
}
