package session

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/runs"
)

// version is the version of the stored JSON. It is raised when the meaning of what is
// stored changes; what has a newer one is refused (runs.ErrNewer). A field that an older program may
// pass over does not raise it, so that programs of two versions can share a store while
// one takes the other's place.
const version = 1

// storedSession is a session as backends keep it; its thread, and when it was saved
// stand beside it. The names within date from when the working structs were stored as
// they are.
type storedSession struct {
	Version int            `json:"version"`
	Flow    string         `json:"flow,omitempty"`
	Title   string         `json:"title,omitempty"`
	People  []chat.UserID  `json:"people,omitempty"`
	Earlier []storedTopic  `json:"earlier,omitempty"`
	Turns   []storedTurn   `json:"turns,omitempty"`
	Waiting *storedWaiting `json:"waiting,omitempty"`
	Work    *storedWork    `json:"work,omitempty"`
	Halt    *storedStop    `json:"halt,omitempty"`
	// Evaluations, Named and Shared came later: an older program passes over them.
	Evaluations []storedEvaluation `json:"evaluations,omitempty"`
	Named       bool               `json:"named,omitempty"`
	Shared      bool               `json:"shared,omitempty"`
}

type storedTopic struct {
	Message   chat.MessageID `json:"message,omitempty"`
	By        chat.UserID    `json:"by,omitempty"`
	Asked     string         `json:"asked"`
	Answered  string         `json:"answered,omitempty"`
	Documents []string       `json:"documents,omitempty"`
	Clarified string         `json:"clarified,omitempty"`
	Cited     []string       `json:"cited,omitempty"`
}

type storedTurn struct {
	Role       chat.Role       `json:"Role"`
	At         time.Time       `json:"At,omitzero"`
	Author     chat.UserID     `json:"Author,omitempty"`
	Message    chat.MessageID  `json:"Message,omitempty"`
	Text       string          `json:"Text,omitempty"`
	Reply      *storedReply    `json:"Reply,omitempty"`
	Question   *storedQuestion `json:"Question,omitempty"`
	Answer     string          `json:"Answer,omitempty"`
	AnsweredBy chat.UserID     `json:"AnsweredBy,omitempty"`
	Posted     chat.MessageID  `json:"Posted,omitempty"`
	// Files and LateEdit came later: an older program passes over them.
	Files    []storedFile `json:"Files,omitempty"`
	LateEdit bool         `json:"LateEdit,omitempty"`
}

type storedFile struct {
	ID        string `json:"ID"`
	Name      string `json:"Name"`
	MediaType string `json:"MediaType,omitempty"`
	Size      int64  `json:"Size,omitempty"` // bytes
}

// storedReply has no trace: the run's record keeps it.
type storedReply struct {
	Run     chat.RunID    `json:"Run,omitempty"`
	Outcome chat.Outcome  `json:"Outcome"`
	Text    string        `json:"Text,omitempty"`
	Note    string        `json:"Note,omitempty"`
	Sources []storedGroup `json:"Sources,omitempty"`
	// Documents came later: an older program passes over them.
	Documents []storedDocument `json:"Documents,omitempty"`
	Offer     chat.RunID       `json:"Offer,omitempty"`
	More      bool             `json:"More,omitempty"`
	Actions   []chat.Action    `json:"Actions,omitempty"`
	Topics    []string         `json:"Topics,omitempty"`  // came later: an older program passes over them
	Stopped   bool             `json:"Stopped,omitempty"` // came later
}

type storedDocument struct {
	Name      string `json:"Name"`
	MediaType string `json:"MediaType,omitempty"`
	Size      int    `json:"Size,omitempty"` // bytes
	Content   []byte `json:"Content,omitempty"`
}

type storedGroup struct {
	Category string         `json:"Category"`
	Sources  []storedSource `json:"Sources,omitempty"`
}

type storedSource struct {
	Numbers  []int           `json:"Numbers,omitempty"`
	Title    string          `json:"Title,omitempty"`
	Path     string          `json:"Path,omitempty"`
	Owner    string          `json:"Owner,omitempty"`
	Modified time.Time       `json:"Modified,omitzero"`
	State    string          `json:"State,omitempty"`
	Document string          `json:"Document,omitempty"`
	Sections []storedSection `json:"Sections,omitempty"`
}

type storedSection struct {
	Number  int    `json:"Number,omitempty"`
	Heading string `json:"Heading,omitempty"`
	Anchor  string `json:"Anchor,omitempty"`
	URL     string `json:"URL,omitempty"`
	// Passage and View came later: an older program passes over them.
	Passage string `json:"Passage,omitempty"`
	View    string `json:"View,omitempty"`
}

type storedQuestion struct {
	ID       string         `json:"ID"`
	Run      chat.RunID     `json:"Run,omitempty"`
	Text     string         `json:"Text,omitempty"`
	Choices  []storedChoice `json:"Choices,omitempty"`
	FreeText bool           `json:"FreeText,omitempty"`
	Asker    chat.UserID    `json:"Asker,omitempty"`
	Meant    string         `json:"Meant,omitempty"`
}

type storedChoice struct {
	ID     string `json:"ID"`
	Label  string `json:"Label,omitempty"`
	Detail string `json:"Detail,omitempty"`
}

type storedWaiting struct {
	Run      chat.RunID       `json:"Run"`
	Flow     string           `json:"Flow,omitempty"`
	Question storedQuestion   `json:"Question"`
	Request  string           `json:"Request,omitempty"`
	Key      runs.DeliveryKey `json:"Key,omitempty"`
}

type storedWork struct {
	Event   runs.EventID     `json:"Event"`
	Came    time.Time        `json:"Came,omitzero"`
	Key     runs.DeliveryKey `json:"Key,omitempty"`
	Message chat.MessageID   `json:"Message,omitempty"`
	Run     chat.RunID       `json:"Run,omitempty"`
	Answer  *storedAnswer    `json:"Answer,omitempty"`
	Note    string           `json:"Note,omitempty"`
	Closed  []string         `json:"Closed,omitempty"`
	Over    bool             `json:"Over,omitempty"`
	Result  storedResult     `json:"Result,omitzero"`
}

type storedAnswer struct {
	QuestionID string    `json:"question_id"`
	Choice     string    `json:"choice,omitempty"`
	Text       string    `json:"text,omitempty"`
	By         string    `json:"by,omitempty"`
	At         time.Time `json:"at,omitzero"`
}

type storedResult struct {
	Next   runs.Next     `json:"Next,omitempty"`
	After  time.Duration `json:"After,omitempty"` // nanoseconds
	Doubt  runs.Doubt    `json:"Doubt,omitempty"`
	Reason string        `json:"Reason,omitempty"`
	Over   chat.RunID    `json:"Over,omitempty"`
}

type storedEvaluation struct {
	Run    chat.RunID         `json:"Run"`
	Scores map[string]float64 `json:"Scores"`
}

type storedStop struct {
	By chat.UserID `json:"By,omitempty"`
	At time.Time   `json:"At,omitzero"`
}

// Encode returns a session, all but its thread and time, as backends store it.
func Encode(s Session) ([]byte, error) {
	kept := storedSession{
		Version: version, Flow: s.Flow, Title: s.Title, Named: s.Named, Shared: s.Shared, People: s.People,
		Earlier: convertAll(s.Earlier, func(t Topic) storedTopic { return storedTopic(t) }), Turns: convertAll(s.Turns, storeTurn),
		Halt: (*storedStop)(s.Halt), Evaluations: convertAll(s.Evaluations, func(e Evaluation) storedEvaluation { return storedEvaluation(e) }),
	}
	if w := s.Waiting; w != nil {
		kept.Waiting = &storedWaiting{Run: w.Run, Flow: w.Flow, Question: storeQuestion(w.Question), Request: w.Request, Key: w.Key}
	}
	if w := s.Work; w != nil {
		kept.Work = &storedWork{
			Event: w.Event, Came: w.Came, Key: w.Key, Message: w.Message, Run: w.Run, Answer: (*storedAnswer)(w.Answer),
			Note: w.Note, Closed: w.Closed, Over: w.Over, Result: storedResult(w.Result),
		}
	}
	return json.Marshal(kept)
}

// Decode reads what Encode gave. After an error, such as runs.ErrNewer, the session is
// the thread's zero one.
func Decode(thread chat.ThreadID, body []byte) (Session, error) {
	var kept storedSession
	if err := json.Unmarshal(body, &kept); err != nil {
		return Session{Thread: thread}, err
	}
	switch {
	case kept.Version > version:
		return Session{Thread: thread}, fmt.Errorf("it has version %d, this program knows %d: %w", kept.Version, version, runs.ErrNewer)
	case kept.Version < 1:
		return Session{Thread: thread}, fmt.Errorf("invalid version %d", kept.Version)
	}
	s := Session{
		Thread: thread, Flow: kept.Flow, Title: kept.Title, Named: kept.Named, Shared: kept.Shared, People: kept.People,
		Earlier: convertAll(kept.Earlier, func(t storedTopic) Topic { return Topic(t) }), Turns: convertAll(kept.Turns, restoreTurn),
		Halt: (*runs.Stop)(kept.Halt), Evaluations: convertAll(kept.Evaluations, func(e storedEvaluation) Evaluation { return Evaluation(e) }),
	}
	if w := kept.Waiting; w != nil {
		s.Waiting = &Waiting{Run: w.Run, Flow: w.Flow, Question: restoreQuestion(w.Question), Request: w.Request, Key: w.Key}
	}
	if w := kept.Work; w != nil {
		s.Work = &Work{
			Event: w.Event, Came: w.Came, Key: w.Key, Message: w.Message, Run: w.Run, Answer: (*graph.Answer)(w.Answer),
			Note: w.Note, Closed: w.Closed, Over: w.Over, Result: runs.Result(w.Result),
		}
	}
	return s, nil
}

// convertAll converts a list; one of nothing is nil.
func convertAll[From, To any](list []From, convert func(From) To) []To {
	if len(list) == 0 {
		return nil
	}
	converted := make([]To, len(list))
	for i, entry := range list {
		converted[i] = convert(entry)
	}
	return converted
}
