package discordtest

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Fault is something that goes wrong with one request.
type Fault struct {
	Status     int           // HTTP status, such as 500
	RetryAfter time.Duration // sent with 429
	Global     bool          // a 429 of the global limit
	// Done has the request carried out first, so that only its answer is lost.
	Done bool
	// Late has the request carried out that long after it came, whatever its sender was
	// told and whether it still waits: as a busy API does. It counts on the machine's clock.
	// With no Status, Hang or Cut beside it, the request is answered once it is carried out.
	Late time.Duration
	// Hang has the request wait until the app gives up.
	Hang bool
	// Cut has the connection end without an answer.
	Cut bool
}

// isSlow tells the fault of a request that is answered properly, only late.
func (f Fault) isSlow() bool { return f.Late > 0 && f.Status == 0 && !f.Hang && !f.Cut }

const faultReason = "fault"

// Fail has the next requests of a route go wrong, each by one of the faults.
func (s *Server) Fail(route string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[route] = append(s.faults[route], faults...)
}

// Disturb asks choose about every request from now on that Fail has no fault for: what it
// gives goes wrong with the request, nil is nothing. choose is called by one request at a
// time and is told the route; a nil choose ends it.
func (s *Server) Disturb(choose func(route string) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.choose = choose
}

// AwaitLate waits until all is carried out that is to be carried out late.
func (s *Server) AwaitLate() { s.performing.Wait() }

func (s *Server) takeFault(route string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults[route]) > 0 {
		fault := s.faults[route][0]
		s.faults[route] = s.faults[route][1:]
		return &fault
	}
	if s.choose != nil {
		return s.choose(route)
	}
	return nil
}

// performWith carries a request out as its fault wants, which may be nil: at once, later,
// or never.
func (s *Server) performWith(work *request, fault *Fault) (result any, refused *refusal) {
	switch {
	case fault == nil, fault.Done:
		result, refused = s.performRequest(work)
		s.handOver()
	case fault.Late > 0:
		if refused := work.readBody(); refused != nil { // the body ends with the connection
			return nil, refused
		}
		late := &lateRequest{Server: s, work: work, ended: make(chan struct{})}
		if !fault.isSlow() { // it is answered before, or by nothing
			apart := *work
			apart.Request, apart.reply = work.WithContext(context.WithoutCancel(work.Context())), http.Header{}
			late.work = &apart
		}
		s.performing.Go(func() { late.performAfter(fault.Late) })
		if fault.isSlow() {
			<-late.ended
			return late.result, late.refused
		}
	}
	return result, refused
}

// lateRequest is a request that is carried out some time after it came.
type lateRequest struct {
	*Server
	work    *request
	ended   chan struct{} // closed once result and refused are there
	result  any
	refused *refusal
}

func (l *lateRequest) performAfter(after time.Duration) {
	defer close(l.ended)
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.closing:
		return
	}
	l.result, l.refused = l.runRequest(l.work)
	l.handOver()
}

// applyFault answers a request by a fault.
func (s *Server) applyFault(w http.ResponseWriter, work *request, fault Fault) {
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		Method: work.Method, Path: work.URL.Path, Route: work.is.routeName(), Body: work.body,
		Status: fault.Status, At: s.now(), Reason: faultReason,
	})
	s.signalChange()
	s.mu.Unlock()
	switch {
	case fault.Hang:
		// Only once the body was read does the server notice that the app is gone. That it
		// can't be read says the same.
		if _, err := io.Copy(io.Discard, work.Body); err == nil {
			<-work.Context().Done()
		}
	case fault.Cut:
		panic(http.ErrAbortHandler)
	case fault.Status == http.StatusTooManyRequests:
		newRateLimit(fault.RetryAfter, fault.Global, "user").writeResponse(w)
	default:
		writeAnswer(w, fault.Status, newRefusal(fault.Status, codeGeneral))
	}
}
