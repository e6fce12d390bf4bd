package agent

import (
	"errors"
	"fmt"
	"time"
)

// Name names an agent, or whoever sends requests to one.
type Name string

// busName is who heartbeats are sent to.
const busName Name = "bus"

// Message is what travels on a bus. Nothing in it is written to once it was sent.
type Message struct {
	ID            string
	Sender        Name
	Recipient     Name
	Type          Type
	Payload       Payload
	Timestamp     time.Time
	CorrelationID string // one for a request, its retries, its progress and its replies
	Priority      Priority
	RetryCount    int // 0 for the first attempt; a reply has that of the request it answers
}

// Payload is the content of a message: a struct or another plain value, which is not
// written to once it was sent.
type Payload interface {
	// MessageType is the type of the messages that this payload travels in. It is the
	// same for every value of a Go type, the zero value too.
	MessageType() Type
}

// Type is what a message is for.
type Type string

// The types. Every request is answered once, by the response that belongs to it or by
// a Failure. Coordination is progress and cancellation.
const (
	SearchRequest          Type = "search_request"
	SearchResponse         Type = "search_response"
	AnalysisRequest        Type = "analysis_request"
	AnalysisResponse       Type = "analysis_response"
	ResponseRequest        Type = "response_request"
	ResponseResponse       Type = "response_response"
	CategorizationRequest  Type = "categorization_request"
	CategorizationResponse Type = "categorization_response"
	Failure                Type = "error"
	Heartbeat              Type = "heartbeat"
	Coordination           Type = "coordination"
)

// responseType returns the type of what answers a request; "" where t is no request.
func (t Type) responseType() Type {
	switch t {
	case SearchRequest:
		return SearchResponse
	case AnalysisRequest:
		return AnalysisResponse
	case ResponseRequest:
		return ResponseResponse
	case CategorizationRequest:
		return CategorizationResponse
	}
	return ""
}

// Priority orders a mailbox, Highest first.
type Priority int

// The priorities. A request without one has Normal.
const (
	Lowest  Priority = 1
	Low     Priority = 2
	Normal  Priority = 3
	High    Priority = 4
	Highest Priority = 5
)

// Cancel tells an agent that nobody waits any more for the request with the message's
// sender, correlation id and retry count.
type Cancel struct{}

// MessageType is Coordination.
func (Cancel) MessageType() Type { return Coordination }

// Beat is a heartbeat: its sender is alive, and its Check, if it has one, went well.
type Beat struct{}

// MessageType is Heartbeat.
func (Beat) MessageType() Type { return Heartbeat }

// checkFields returns what is wrong with a message, whoever made it.
func (m Message) checkFields() error {
	switch {
	case m.ID == "" || m.Sender == "" || m.Recipient == "" || m.CorrelationID == "":
		return errors.New("a message needs an id, a sender, a recipient and a correlation id")
	case m.Payload == nil:
		return fmt.Errorf("message %s has no payload", m.ID)
	case m.Payload.MessageType() != m.Type:
		return fmt.Errorf("message %s is of type %q, its payload %T travels as %q", m.ID, m.Type, m.Payload, m.Payload.MessageType())
	case m.Priority < Lowest || m.Priority > Highest:
		return fmt.Errorf("message %s has priority %d: give one from %d to %d", m.ID, m.Priority, Lowest, Highest)
	case m.RetryCount < 0:
		return fmt.Errorf("message %s has a negative retry count, %d", m.ID, m.RetryCount)
	}
	return nil
}
