package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// pauseMost is the longest between tries to connect.
	pauseMost = time.Minute
	// tooLate is the part of the time between identifies after which a place to identify is
	// not used: the next one's identify would come too soon after it.
	tooLate = 10
	// saveEvery is how far what is kept of a session may be behind.
	saveEvery = time.Second
	// storeLimit is for what is told the store when all else is over.
	storeLimit = 5 * time.Second
)

// newPause returns growing pauses between tries, half of them chance.
func newPause(first, most time.Duration) *backoff.ExponentialBackOff {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = first, most
	return pause
}

// shard keeps one shard connected while the lease is the replica's.
type shard struct {
	options Options
	bot     Bot
	lease   Lease
	logger  *slog.Logger
	queue   *queue

	mu      sync.Mutex
	session Session // its Seq is in window
	saved   Session // what the store has of it
	window  *window
	fresh   chan struct{} // of one element: there is a new session to be saved
}

func newShard(options Options, bot Bot, lease Lease, handle Handler) *shard {
	logger := options.Logger.With("shard", lease.Shard)
	return &shard{
		options: options, bot: bot, lease: lease, logger: logger,
		queue: newQueue(handle, options.InFlight, logger), session: lease.Session,
		saved: lease.Session, window: newWindow(lease.Session.Seq), fresh: make(chan struct{}, 1),
	}
}

// run keeps the shard connected until ctx ends, the lease is lost (nil) or Discord
// refuses the bot for good. Then it lets go of the shard.
func (s *shard) run(ctx context.Context) error {
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	var saver sync.WaitGroup
	saver.Go(func() { s.saveRegularly(ctx, cancel) })
	err := s.stayConnected(ctx, work)
	cancel()
	saver.Wait()
	s.queue.stopQueue(end)
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer stop()
	if freed := s.options.Shards.Release(last, s.lease, s.currentSession()); freed != nil && !errors.Is(freed, ErrLost) {
		s.logger.WarnContext(last, "release discord shard; its lease expires", "error", freed)
	}
	return err
}

// currentSession returns the session as it can be resumed now.
func (s *shard) currentSession() Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.session
	session.Seq = s.window.lastFinished()
	return session
}

// saveSession keeps the session as it can be resumed now.
func (s *shard) saveSession(ctx context.Context) error {
	session := s.currentSession()
	if err := s.options.Shards.Save(ctx, s.lease, session); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = session
	return nil
}

// confirmedSeq returns the number that heartbeats tell, 0 for none: Discord forgets the events
// up to it, so it is never ahead of what a successor would resume with.
func (s *shard) confirmedSeq() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved.ID != s.session.ID {
		return 0
	}
	return s.saved.Seq
}

// hasMoved reports whether the session is another than the one that is kept.
func (s *shard) hasMoved() bool {
	session := s.currentSession()
	s.mu.Lock()
	defer s.mu.Unlock()
	return session != s.saved
}

// saveRegularly saves the session when it moved, until ctx ends or the lease is lost.
func (s *shard) saveRegularly(ctx context.Context, lost context.CancelFunc) {
	ticker := time.NewTicker(min(saveEvery, s.options.LeaseTTL/4))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.fresh:
		case <-ticker.C:
		}
		if !s.hasMoved() {
			continue
		}
		err := s.saveSession(ctx)
		switch {
		case err == nil:
		case errors.Is(err, ErrLost):
			lost()
			return
		case ctx.Err() == nil:
			s.logger.WarnContext(ctx, "save discord session; retrying", "error", err)
		}
	}
}

// stayConnected reconnects until the shard stops.
func (s *shard) stayConnected(ctx, work context.Context) error {
	pause := newPause(s.options.Pause, pauseMost)
	for {
		// Only who has the lease may connect: two would take the session from one another.
		err := s.saveSession(ctx)
		if errors.Is(err, ErrLost) {
			s.logger.WarnContext(ctx, "discord shard lost to another replica", "error", err)
			return nil
		}
		if err == nil {
			var greeted bool
			greeted, err = s.runConnection(ctx, work)
			if greeted {
				pause.Reset()
			}
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // what ended it is that it is to end
		}
		wait := pause.NextBackOff()
		meaning, err := closeEffectOf(err)
		switch {
		case meaning == stopForGood:
			return err
		case meaning == startSession:
			s.setSession(Session{})
			wait = max(wait, s.identifyDelay())
		case errors.Is(err, errSuspended):
			wait = max(wait, s.identifyDelay())
		}
		s.logger.InfoContext(ctx, "discord connection ended; reconnecting", "anew", meaning == startSession, "wait", wait, "error", err)
		if !sleepContext(ctx, wait) {
			return nil
		}
	}
}

// identifyDelay returns one to five times the first pause, the wait that Discord demands after op 9.
func (s *shard) identifyDelay() time.Duration {
	return s.options.Pause + rand.N(4*s.options.Pause)
}

// sleepContext waits; it returns false if ctx ended first.
func sleepContext(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// setSession sets the session to save and resume.
func (s *shard) setSession(session Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session, s.window = session, newWindow(session.Seq)
}

// runConnection runs one connection from its hello to its end. greeted is true when a session
// started or was resumed; the error says why it ended.
func (s *shard) runConnection(ctx, work context.Context) (greeted bool, err error) {
	session := s.currentSession()
	address := s.bot.URL
	if session.ID != "" && isSafeAddress(session.URL, s.bot.URL) {
		address = session.URL
	}
	c, interval, err := dial(ctx, address)
	if err != nil {
		return false, err
	}
	c.seq = s.confirmedSeq
	c.stalled = s.queue.isFull
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.closeResumable(errOver) })
	defer stop()
	defer c.closeResumable(errOver)
	helpers.Go(func() { c.sendHeartbeats(ctx, time.Duration(s.options.Jitter()*float64(interval)), interval) })
	answered := make(chan struct{})
	helpers.Go(func() {
		err := s.identifyOrResume(ctx, c, session)
		if err == nil {
			err = awaitAnswer(ctx, 2*interval, answered)
		}
		if err != nil {
			c.closeResumable(err)
		}
	})
	for {
		got, err := c.readFrame()
		if bad, ok := errors.AsType[*malformedError](err); ok {
			s.skipMalformed(ctx, got, bad)
			continue
		}
		if err == nil {
			err = s.handleFrame(ctx, work, c, got)
			if got.Op == opDispatch && !greeted {
				greeted = true
				close(answered)
			}
		}
		if err != nil {
			return greeted, err
		}
	}
}

// awaitAnswer waits until Discord answered: errMute where it does not in time.
func awaitAnswer(ctx context.Context, limit time.Duration, answered <-chan struct{}) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-answered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return errMute
	}
}

// isSafeAddress reports whether an address that Discord gave may be sent the token: it is encrypted
// where the first one is.
func isSafeAddress(address, first string) bool {
	one, err := url.Parse(first)
	if err != nil {
		return false
	}
	other, err := url.Parse(address)
	return err == nil && other.Host != "" && (other.Scheme == "wss" || other.Scheme == one.Scheme)
}

// identifyOrResume resumes the session, or identifies when it is this shard's turn.
func (s *shard) identifyOrResume(ctx context.Context, c *connection, session Session) error {
	if session.ID != "" {
		return c.sendResume(s.options.Token, session)
	}
	limit, err := s.startLimit(ctx)
	if err != nil {
		return err
	}
	for {
		asked := time.Now()
		wait, err := s.options.Starts.Start(ctx, s.lease.Shard, limit)
		if err != nil {
			return fmt.Errorf("take a place to identify: %w", err)
		}
		if wait <= 0 && time.Since(asked) <= limit.Window/tooLate {
			return c.sendIdentify(s.options, s.lease)
		}
		if wait > time.Minute {
			s.logger.ErrorContext(ctx, "discord allows no more identifies today; waiting", "wait", wait)
		}
		if !sleepContext(ctx, wait) {
			return ctx.Err()
		}
		if wait > time.Minute { // what was known of the day is old
			if limit, err = s.startLimit(ctx); err != nil {
				return err
			}
		}
	}
}

// startLimit asks Discord what is left of the identifies.
func (s *shard) startLimit(ctx context.Context) (StartLimit, error) {
	bot, err := s.options.Discover(ctx)
	if err != nil {
		return StartLimit{}, fmt.Errorf("ask how many may identify: %w", err)
	}
	limit := bot.Starts
	limit.Window = s.options.IdentifyWindow
	return limit, nil
}

// skipMalformed logs an unreadable message. Discord would send it again unchanged, so it counts as
// handled.
func (s *shard) skipMalformed(ctx context.Context, got frame, bad error) {
	s.logger.ErrorContext(ctx, "malformed discord event skipped", "type", got.Type, "seq", got.Seq, "error", bad)
	if got.Op != opDispatch || got.Seq == 0 {
		return
	}
	s.mu.Lock()
	seen := s.window
	s.mu.Unlock()
	if seen.markReceived(got.Seq) {
		seen.markFinished(got.Seq)
	}
}

// handleFrame obeys a message. An error is why the connection is to end.
func (s *shard) handleFrame(ctx, work context.Context, c *connection, got frame) error {
	switch got.Op {
	case opDispatch:
		return s.dispatchEvent(ctx, work, c, got)
	case opHeartbeat:
		return c.sendHeartbeat()
	case opAck:
		c.markAlive()
	case opReconnect:
		return errReconnect
	case opInvalidSession:
		var resumable bool
		if err := json.Unmarshal(got.Data, &resumable); err != nil {
			s.logger.WarnContext(ctx, "discord op 9 without data; starting a new session", "error", err)
		}
		if resumable {
			return errSuspended
		}
		return errInvalid
	}
	return nil
}

func (s *shard) dispatchEvent(ctx, work context.Context, c *connection, got frame) error {
	if got.Type == "READY" {
		if err := s.handleReady(got); err != nil {
			return err
		}
	}
	s.mu.Lock()
	seen := s.window
	s.mu.Unlock()
	if !seen.markReceived(got.Seq) {
		return nil
	}
	at := placeOf(got.Data)
	next := job{
		event: Dispatch{s.lease.Shard, got.Type, got.Data},
		order: orderKey(got.Type, at), id: at.ID, finished: func() { seen.markFinished(got.Seq) },
	}
	waits := s.queue.isFull()
	if !s.queue.pushEvent(ctx, work, next) {
		return errOver
	}
	if waits {
		c.markAlive() // its answers could not be read
	}
	return nil
}

// handleReady starts a session. One that was started already is replayed: no event was dealt
// with before the connection ended.
func (s *shard) handleReady(got frame) error {
	var ready struct {
		SessionID string `json:"session_id"`
		ResumeURL string `json:"resume_gateway_url"`
	}
	if err := json.Unmarshal(got.Data, &ready); err != nil || ready.SessionID == "" {
		return fmt.Errorf("READY without a session (%d bytes): %w", len(got.Data), errors.Join(errInvalid, err))
	}
	if s.currentSession().ID == ready.SessionID {
		return nil
	}
	s.setSession(Session{ID: ready.SessionID, URL: ready.ResumeURL})
	select {
	case s.fresh <- struct{}{}:
	default:
	}
	return nil
}
