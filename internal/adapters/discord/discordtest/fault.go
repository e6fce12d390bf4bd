package discordtest

import (
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
	// Hang has the request wait until the app gives up.
	Hang bool
	// Cut has the connection end without an answer.
	Cut bool
}

const faultReason = "fault"

// Fail has the next requests of a route go wrong, each by one of the faults.
func (s *Server) Fail(route string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[route] = append(s.faults[route], faults...)
}

func (s *Server) takeFault(route string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults[route]) == 0 {
		return nil
	}
	fault := s.faults[route][0]
	s.faults[route] = s.faults[route][1:]
	return &fault
}

// fail answers a request by a fault.
func (s *Server) fail(w http.ResponseWriter, work *request, fault Fault) {
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		Method: work.Method, Path: work.URL.Path, Route: work.is.name(), Body: work.body,
		Status: fault.Status, At: s.now(), Reason: faultReason,
	})
	s.touch()
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
		limited(fault.RetryAfter, fault.Global, "user").write(w)
	default:
		answer(w, fault.Status, refuse(fault.Status, codeGeneral))
	}
}
