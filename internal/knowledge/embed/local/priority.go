package local

import (
	"context"
	"sync"
)

// priority lets calls that somebody waits for go before those in the background. Its zero
// value has no such calls.
type priority struct {
	mutex   sync.Mutex
	waiting int           // calls that somebody waits for
	idle    chan struct{} // closed when waiting falls to 0; nil while it is 0
}

func (p *priority) enterForeground() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.waiting++
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
}

func (p *priority) leaveForeground() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.waiting--
	if p.waiting == 0 {
		close(p.idle)
		p.idle = nil
	}
}

// waitIdle returns when nobody waits for a vector, or the context ends.
func (p *priority) waitIdle(ctx context.Context) {
	for ctx.Err() == nil {
		p.mutex.Lock()
		idle := p.idle
		p.mutex.Unlock()
		if idle == nil {
			return
		}
		select {
		case <-idle:
		case <-ctx.Done():
		}
	}
}
