package analysis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// Dependencies is what a repository depends on.
type Dependencies struct {
	Manifests []Manifest `json:"manifests"`
	Left      int        `json:"left,omitempty"` // manifests that found no room
	Total     int        `json:"total"`          // dependencies in all manifests, indirect ones included
	Broken    []string   `json:"broken,omitempty"`
	Risks     []Risk     `json:"risks,omitempty"`
}

// Manifest is one that says what is depended on.
type Manifest struct {
	Path         string             `json:"path"`
	Ecosystem    manifest.Ecosystem `json:"ecosystem"`
	Name         string             `json:"name,omitempty"`
	Version      string             `json:"version,omitempty"`  // of what it describes
	Requires     string             `json:"requires,omitempty"` // of its language: "Go 1.26"
	Description  string             `json:"description,omitempty"`
	Lock         string             `json:"lock,omitempty"` // path of the lock file
	Dependencies []Dependency       `json:"dependencies"`
	Indirect     int                `json:"indirect,omitempty"` // dependencies of dependencies, which are not listed
	Left         int                `json:"left,omitempty"`     // that found no room
}

// Dependency is one that a manifest names.
type Dependency struct {
	manifest.Dependency
	Locked string `json:"locked,omitempty"` // the version of the lock file
}

// Bounds of Dependencies.
const (
	maxManifests = 60
	maxListed    = 150 // of a manifest
	maxBroken    = 20
)

// Dependencies reads the manifests, with the versions of their lock files.
func (a *Analyst) Dependencies(ctx context.Context) (Dependencies, error) {
	read, err := a.readAll(ctx)
	if err != nil {
		return Dependencies{}, fmt.Errorf("extract the dependencies: %w", err)
	}
	locks := readLocks(read.manifests)
	made := Dependencies{Broken: read.broken[:min(len(read.broken), maxBroken)]}
	unlocked, unpinned := make(map[manifest.Ecosystem]*Risk), Risk{Kind: Unpinned}
	for _, m := range read.manifests {
		if m.Lock || len(m.Dependencies) == 0 && m.Name == "" && m.Workspace != nil {
			continue
		}
		one := a.lockedManifest(m, read.manifests, locks)
		made.Total += len(m.Dependencies)
		if lacksLock(one) && source.RoleOf(m.Path) != source.Example {
			if unlocked[m.Ecosystem] == nil {
				unlocked[m.Ecosystem] = &Risk{Kind: NoLock, Text: lockRisk(m.Ecosystem)}
			}
			unlocked[m.Ecosystem].addPlace(Place{Path: m.Path})
		}
		for _, d := range m.Dependencies {
			if m.Ecosystem == manifest.Container && (d.Version == "" || d.Version == "latest") && !strings.Contains(d.Name, "$") {
				unpinned.addPlace(Place{Path: m.Path, Line: d.Line})
			}
		}
		if len(made.Manifests) == maxManifests {
			made.Left++
			continue
		}
		made.Manifests = append(made.Manifests, one)
	}
	for _, risk := range unlocked {
		made.Risks = append(made.Risks, *risk)
	}
	slices.SortFunc(made.Risks, func(a, b Risk) int { return strings.Compare(a.Text, b.Text) })
	if len(unpinned.Places) > 0 {
		unpinned.Text = "Container images without a version, or with `latest`: every build may get another."
		made.Risks = append(made.Risks, unpinned)
	}
	return made, nil
}

// readLocks returns the lock files by their paths.
func readLocks(manifests []manifest.Manifest) map[string]manifest.Lock {
	locks := make(map[string]manifest.Lock)
	for _, m := range manifests {
		if m.Lock {
			locks[m.Path] = manifest.NewLock(m)
		}
	}
	return locks
}

// lockedManifest puts the versions of its lock file into a manifest.
func (a *Analyst) lockedManifest(m manifest.Manifest, all []manifest.Manifest, locks map[string]manifest.Lock) Manifest {
	one := Manifest{Path: m.Path, Ecosystem: m.Ecosystem, Name: m.Name, Version: m.Version, Requires: m.Requires, Description: m.Description, Lock: a.findLock(m, all)}
	for _, d := range m.Dependencies {
		if d.Scope == manifest.Indirect {
			one.Indirect++
			continue
		}
		if len(one.Dependencies) == maxListed {
			one.Left++
			continue
		}
		version := locks[one.Lock].Version(m.Path, d)
		if version == d.Version {
			version = ""
		}
		one.Dependencies = append(one.Dependencies, Dependency{d, version})
	}
	return one
}
