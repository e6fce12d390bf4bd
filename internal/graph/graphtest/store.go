// Package graphtest tests what is built on package graph: the suite that every
// checkpoint store passes, a store that crashes on command, a check that a flow
// survives a crash at each of its checkpoints, and one that nodes only read the state.
package graphtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairn-bot/cairn/internal/graph"
)

// Memory is a graph.Store that keeps checkpoints in a map.
type Memory struct {
	mu          sync.Mutex
	checkpoints map[string][]byte
	saves       int
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{checkpoints: make(map[string][]byte)}
}

// Save stores a copy of the checkpoint.
func (m *Memory) Save(ctx context.Context, run string, checkpoint []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checkpoints[run] = slices.Clone(checkpoint)
	m.saves++
	return nil
}

// Load returns a copy of the checkpoint.
func (m *Memory) Load(ctx context.Context, run string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	checkpoint, ok := m.checkpoints[run]
	if !ok {
		return nil, fmt.Errorf("run %s: %w", run, graph.ErrNoCheckpoint)
	}
	return slices.Clone(checkpoint), nil
}

// Saves returns the number of checkpoints written so far.
func (m *Memory) Saves() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.saves
}

// ErrCrash is what a Crashing store returns from its crash on.
var ErrCrash = errors.New("the store has crashed")

// CrashPoint says when a Crashing store fails.
type CrashPoint struct {
	Save int // the how manieth Save fails, from 1
	// Written tells that this Save still reaches the store, as when a process dies
	// between the write and the reply.
	Written bool
	// Once tells that the store works again after this Save: it has failed, and the
	// process that called it lives on.
	Once bool
}

// Crashing is a graph.Store that fails at one Save, and unless that is all at every
// call after it, like a process that has died. What it wrote is in the store under it.
type Crashing struct {
	store graph.Store
	at    CrashPoint

	mu    sync.Mutex
	saves int
}

// NewCrashing returns a store that writes to store until the crash.
func NewCrashing(store graph.Store, at CrashPoint) *Crashing {
	return &Crashing{store: store, at: at}
}

// Save passes the checkpoint on, unless the store has crashed.
func (c *Crashing) Save(ctx context.Context, run string, checkpoint []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saves++
	fails := c.saves == c.at.Save || c.saves > c.at.Save && !c.at.Once
	if !fails || c.saves == c.at.Save && c.at.Written {
		if err := c.store.Save(ctx, run, checkpoint); err != nil {
			return err
		}
	}
	if fails {
		return ErrCrash
	}
	return nil
}

// Load passes the checkpoint on, unless the store has crashed.
func (c *Crashing) Load(ctx context.Context, run string) ([]byte, error) {
	if c.Crashed() && !c.at.Once {
		return nil, ErrCrash
	}
	return c.store.Load(ctx, run)
}

// Crashed reports whether the crash has happened.
func (c *Crashing) Crashed() bool { return c.Saves() >= c.at.Save }

// Saves returns how often Save was called.
func (c *Crashing) Saves() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.saves
}
