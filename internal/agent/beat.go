package agent

import (
	"context"
	"time"
)

// sendHeartbeats sends the agent's heartbeats until ctx ends.
func (w *worker) sendHeartbeats(ctx context.Context) {
	ticker := time.NewTicker(w.bus.interval)
	defer ticker.Stop()
	for {
		w.mu.Lock()
		w.checking = true
		w.mu.Unlock()
		err := w.checkHealth(ctx)
		w.mu.Lock()
		w.checking, w.problem = false, err
		w.mu.Unlock()
		if err == nil {
			w.bus.sendAfter(ctx, Message{
				ID: w.bus.nextID(), Sender: w.agent.Name, Recipient: busName, Type: Heartbeat, Payload: Beat{},
				Timestamp: time.Now(), CorrelationID: string(w.agent.Name), Priority: Highest,
			})
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// checkHealth runs the agent's Check.
func (w *worker) checkHealth(ctx context.Context) (err error) {
	if w.agent.Check == nil {
		return nil
	}
	defer func() {
		if value := recover(); value != nil {
			err = newPanicError(value)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, w.bus.interval)
	defer cancel()
	return w.agent.Check(ctx)
}

// hasRunningJobs reports whether the agent has code running.
func (w *worker) hasRunningJobs() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running > 0 || w.checking
}

// recordHeartbeat notes the time of a heartbeat.
func (w *worker) recordHeartbeat(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastBeat = at
}

// reviewState refuses the waiting requests of an agent that is down, and logs its state when
// that has changed.
func (w *worker) reviewState(ctx context.Context, now time.Time) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	state, problem := w.currentState(now)
	before := w.logged
	w.logged = state
	var unserved []*job
	if state == StateDown {
		unserved = w.clearMailbox(&w.counts.Unserved)
	}
	w.mu.Unlock()
	for _, j := range unserved {
		j.reply(w.newError(Down, problem))
	}
	switch {
	case problem != nil && state != before:
		w.bus.log.WarnContext(ctx, "agent unhealthy", "agent", w.agent.Name, "state", state, "error", problem)
	case problem == nil && (before == StateStuck || before == StateDown):
		w.bus.log.InfoContext(ctx, "agent recovered", "agent", w.agent.Name)
	}
}
