package chaos

import (
	"context"
	"syscall"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// fault has one call of the platform in ten go wrong.
func fault(tn *town) chattest.Fault {
	faults := []chattest.Fault{chattest.RateLimited, chattest.Broken, chattest.BrokenAfter, chattest.SilentAfter}
	roll := tn.roll(10 * len(faults))
	if roll >= len(faults) {
		return chattest.NoFault
	}
	tn.count(string(faults[roll]))
	return faults[roll]
}

// strikeProcesses makes things go wrong until ctx ends.
func (tn *town) strikeProcesses(ctx context.Context) {
	for ctx.Err() == nil {
		wait(ctx, time.Duration(100+tn.roll(400))*time.Millisecond)
		worker, intake := tn.workers[tn.roll(len(tn.workers))], tn.intakes[tn.roll(len(tn.intakes))]
		var err error
		switch tn.roll(7) {
		case 0, 1, 2:
			tn.count("worker killed")
			err = again(worker, syscall.SIGKILL)
		case 3:
			tn.count("worker drained")
			err = again(worker, syscall.SIGTERM)
		case 4, 5:
			tn.count("intake killed")
			err = again(intake, syscall.SIGKILL)
		case 6:
			tn.count("worker stopped for longer than its lease")
			err = freeze(ctx, worker)
		}
		if err != nil {
			tn.t.Error(err)
			return
		}
	}
}

// strikeStore has Redis, or the way to it, break until ctx ends.
func (tn *town) strikeStore(ctx context.Context) {
	for ctx.Err() == nil {
		wait(ctx, time.Duration(500+tn.roll(2000))*time.Millisecond)
		tn.breakStore(ctx)
	}
}

func (tn *town) breakStore(ctx context.Context) {
	switch tn.roll(5) {
	case 0:
		tn.count("redis killed")
		tn.redis.Kill()
		tn.redis.Start() //nolint:contextcheck // the server has the test's
		tn.sync()        //nolint:contextcheck // as above
	case 1:
		tn.count("redis restarted")
		tn.redis.ShutDown() //nolint:contextcheck // as above
		tn.redis.Start()    //nolint:contextcheck // as above
		tn.sync()           //nolint:contextcheck // as above
	case 2, 3:
		tn.count("connections cut")
		tn.line.Cut()
	case 4:
		tn.count("connections stalled")
		release := tn.line.Hold()
		wait(ctx, time.Duration(tn.roll(4000))*time.Millisecond)
		release()
	}
}

func again(p *process, s syscall.Signal) error {
	if err := p.end(s); err != nil {
		return err
	}
	return p.start()
}

func freeze(ctx context.Context, p *process) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	wait(ctx, leaseTTL+claimInterval+time.Second)
	return p.signal(syscall.SIGCONT)
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
