package slacktest

import (
	"encoding/json"
	"slices"
	"time"
)

// Status is a status line under a thread, such as "is searching…". An empty Text is
// where it was cleared.
type Status struct {
	Channel, ThreadTS string
	Text              string
	At                time.Time
}

// Prompt is a suggested prompt.
type Prompt struct {
	Title   string `json:"title"`
	Message string `json:"message"`
}

// statusTime is how long a status line stands where no message follows.
const statusTime = 2 * time.Minute

// Statuses returns all status lines that were set or cleared, in their order.
func (s *Server) Statuses() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.statuses)
}

// Status returns the line that stands under a thread, "" for none.
func (s *Server) Status(channelID, threadTS string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threadStatus(channelID, threadTS)
}

func (s *Server) threadStatus(channelID, threadTS string) string {
	for _, status := range slices.Backward(s.statuses) {
		if status.Channel == channelID && status.ThreadTS == threadTS {
			if s.clock.Now().Sub(status.At) > statusTime {
				return ""
			}
			return status.Text
		}
	}
	return ""
}

// Prompts returns the suggested prompts of a direct conversation.
func (s *Server) Prompts(channelID string) []Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts[channelID]
}

// Session returns the agent session's status of a thread.
func (s *Server) Session(channelID, threadTS string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[channelID+" "+threadTS]
}

func (s *Server) clearStatus(channelID, threadTS string) {
	if s.threadStatus(channelID, threadTS) != "" {
		s.statuses = append(s.statuses, Status{channelID, threadTS, "", s.clock.Now()})
	}
}

func (s *Server) setStatus(work *request) (any, *apiError) {
	if s.channels[work.args["channel_id"]] == nil {
		return nil, newAPIError("channel_not_found")
	}
	if s.findRoot(work.args["channel_id"], work.args["thread_ts"]) == nil {
		return nil, newAPIError("thread_not_found")
	}
	if Length(work.args["status"]) > 100 { // not documented; longer ones can't be read
		return nil, newAPIError("invalid_arguments", "[ERROR] must be less than 101 characters [json-pointer:/status]")
	}
	s.statuses = append(s.statuses, Status{work.args["channel_id"], work.args["thread_ts"], work.args["status"], s.clock.Now()})
	return nil, nil
}

func (s *Server) setTitle(work *request) (any, *apiError) {
	if s.findRoot(work.args["channel_id"], work.args["thread_ts"]) == nil {
		return nil, newAPIError("thread_not_found")
	}
	return nil, nil
}

// setPrompts does nothing, and says that all is well, where a thread is given: in
// agent_view Slack does the same.
func (s *Server) setPrompts(work *request) (any, *apiError) {
	if s.channels[work.args["channel_id"]] == nil {
		return nil, newAPIError("channel_not_found")
	}
	prompts, err := decodeStrict[[]Prompt](json.RawMessage(work.args["prompts"]))
	if err != nil {
		return nil, newAPIError("invalid_arguments", "[ERROR] "+err.Error())
	}
	if len(prompts) > 4 {
		return nil, newAPIError("invalid_arguments", "[ERROR] no more than 4 items allowed [json-pointer:/prompts]")
	}
	if work.args["thread_ts"] == "" {
		s.prompts[work.args["channel_id"]] = prompts
	}
	return nil, nil
}

// Unstoppable has the app not subscribe to the event that tells that a person stopped a session:
// Slack then shows that it works, without a Stop, and warns.
func (s *Server) Unstoppable(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unstoppable = is
}

func (s *Server) setSession(work *request) (any, *apiError) {
	if s.findRoot(work.args["channel_id"], work.args["thread_ts"]) == nil {
		return nil, newAPIError("thread_not_found")
	}
	status, warning := work.args["status"], ""
	if s.unstoppable {
		warning = "missing_agent_session_stopped_event_subscription"
	}
	if !slices.Contains([]string{"processing", "active", "suspended", "closed"}, status) {
		return nil, newAPIError("invalid_arguments", "[ERROR] unsupported status: "+status)
	}
	if err := checkTitle(work.args["title"]); err != nil {
		return nil, err
	}
	session := work.args["channel_id"] + " " + work.args["thread_ts"]
	if s.sessions[session] == "" { // the title of one that is there stays
		s.titles[session] = work.args["title"]
	}
	s.sessions[session] = status
	return struct {
		Status      string `json:"status"`
		AgentStatus string `json:"agent_status"`
		Title       string `json:"title,omitempty"`
		Warning     string `json:"warning,omitempty"`
	}{status, status, s.titles[session], warning}, nil
}

// maxSessionTitle is the most of a session's title.
const maxSessionTitle = 200

func checkTitle(title string) *apiError {
	if Length(title) > maxSessionTitle {
		return newAPIError("invalid_arguments", "[ERROR] must be less than 201 characters [json-pointer:/title]")
	}
	return nil
}

// SessionTitle returns the title of a thread's agent session.
func (s *Server) SessionTitle(channelID, threadTS string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.titles[channelID+" "+threadTS]
}

func (s *Server) renameSession(work *request) (any, *apiError) {
	session := work.args["channel_id"] + " " + work.args["thread_ts"]
	if s.sessions[session] == "" {
		return nil, newAPIError("session_not_found")
	}
	if err := checkTitle(work.args["title"]); err != nil {
		return nil, err
	}
	s.titles[session] = work.args["title"]
	return struct {
		Title string `json:"title"`
	}{work.args["title"]}, nil
}
