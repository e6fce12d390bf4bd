package analysis

import (
	"context"
	"fmt"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// Usage is a manifest that names a dependency which is looked for.
type Usage struct {
	Place
	Dependency
	Ecosystem manifest.Ecosystem `json:"ecosystem"`
	Role      source.Role        `json:"role"` // of the manifest: an example's is not the service's
	Fit       manifest.Fit       `json:"fit"`  // of the version
}

// Usages are what manifests of a repository name of a dependency.
type Usages struct {
	Found     []Usage  `json:"found,omitempty"`
	Manifests int      `json:"manifests"` // that were read
	Broken    []string `json:"broken,omitempty"`
}

// FindDependency looks for a dependency in the manifests of a repository, and reads nothing else.
func (a *Analyst) FindDependency(ctx context.Context, wanted manifest.Wanted) (Usages, error) {
	read, err := a.readManifests(ctx)
	if err != nil {
		return Usages{}, fmt.Errorf("find a dependency: %w", err)
	}
	made := Usages{Broken: read.broken[:min(len(read.broken), maxBroken)]}
	locks := readLocks(read.manifests)
	for _, m := range read.manifests {
		if m.Lock {
			continue
		}
		made.Manifests++
		lock := a.findLock(m, read.manifests)
		for _, d := range m.Dependencies {
			if !wanted.Names(d) || len(made.Found) == maxListed {
				continue
			}
			version := locks[lock].Version(m.Path, d)
			one := Usage{Place: Place{m.Path, d.Line}, Dependency: Dependency{d, version}, Ecosystem: m.Ecosystem, Role: source.RoleOf(m.Path), Fit: wanted.Fit(m.Ecosystem, d, version)}
			if version == d.Version {
				one.Locked = ""
			}
			made.Found = append(made.Found, one)
		}
	}
	return made, nil
}

// readManifests reads the manifests and lock files alone.
func (a *Analyst) readManifests(ctx context.Context) (*reading, error) {
	var files []file
	for _, listed := range a.checkout.Files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f := file{File: listed, test: source.IsTest(listed.Path), role: source.RoleOf(listed.Path)}
		if f.test || !manifest.Is(listed.Path) || listed.Size > a.checkout.MaxRead() {
			continue
		}
		if err := a.readFile(&f); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return collectFiles(files), nil
}
