package slacktest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const errRateLimited = "ratelimited"

// apiError is an error as Slack names it.
type apiError struct {
	Name     string
	Messages []string // for response_metadata.messages
}

func (e *apiError) Error() string { return e.Name }

func newAPIError(name string, messages ...string) *apiError { return &apiError{name, messages} }

// args are the arguments of a call. JSON values keep their JSON.
type args map[string]string

// request is a call in work.
type request struct {
	args
	install *install
}

// method is one method of the Web API.
type method struct {
	perMinute int
	// perChannel has the limit count for each channel.
	perChannel bool
	known      []string // arguments
	required   []string
	scope      string // that it takes; "" is not checked
	run        func(*Server, *request) (any, *apiError)
	anyone     bool // needs no bot token
}

// Rate tiers, calls per minute.
const (
	tier2 = 20
	tier3 = 50
	tier4 = 100
)

var messageArgs = []string{
	"channel", "text", "blocks", "attachments", "thread_ts", "reply_broadcast", "metadata", "parse", "link_names",
	"mrkdwn", "unfurl_links", "unfurl_media", "markdown_text", "as_user", "client_msg_id",
}

// allMethods returns the Web API as far as this server knows it.
func allMethods() map[string]method {
	streamArgs := []string{"channel", "markdown_text", "chunks"}
	return map[string]method{
		"auth.test":             {perMinute: 600, run: (*Server).authTest},
		"chat.postMessage":      {perMinute: 60, perChannel: true, known: messageArgs, required: []string{"channel"}, run: (*Server).postMessage},
		"chat.update":           {perMinute: tier3, known: append(slices.Clone(messageArgs), "ts", "file_ids"), required: []string{"channel", "ts"}, run: (*Server).updateMessage},
		"chat.delete":           {perMinute: tier3, known: []string{"channel", "ts", "as_user"}, required: []string{"channel", "ts"}, run: (*Server).deleteMessage},
		"chat.postEphemeral":    {perMinute: tier4, known: append(slices.Clone(messageArgs), "user"), required: []string{"channel", "user"}, run: (*Server).postEphemeral},
		"chat.getPermalink":     {perMinute: tier4, known: []string{"channel", "message_ts"}, required: []string{"channel", "message_ts"}, run: (*Server).getPermalink},
		"chat.startStream":      {perMinute: tier2, known: append(slices.Clone(streamArgs), "thread_ts", "recipient_user_id", "recipient_team_id", "task_display_mode"), required: []string{"channel", "thread_ts"}, run: (*Server).startStream},
		"chat.appendStream":     {perMinute: tier4, known: append(slices.Clone(streamArgs), "ts"), required: []string{"channel", "ts"}, run: (*Server).appendStream},
		"chat.stopStream":       {perMinute: tier2, known: append(slices.Clone(streamArgs), "ts", "blocks", "metadata"), required: []string{"channel", "ts"}, run: (*Server).stopStream},
		"conversations.replies": {perMinute: tier3, known: []string{"channel", "ts", "cursor", "limit", "oldest", "latest", "inclusive", "include_all_metadata"}, required: []string{"channel", "ts"}, run: (*Server).listReplies},
		"conversations.history": {perMinute: tier3, known: []string{"channel", "cursor", "limit", "oldest", "latest", "inclusive", "include_all_metadata"}, required: []string{"channel"}, run: (*Server).listHistory},
		"conversations.info":    {perMinute: tier3, known: []string{"channel", "include_locale", "include_num_members"}, required: []string{"channel"}, run: (*Server).channelInfo},
		"conversations.members": {perMinute: tier4, known: []string{"channel", "cursor", "limit"}, required: []string{"channel"}, run: (*Server).listMembers},
		"conversations.open":    {perMinute: tier3, known: []string{"users", "channel", "return_im", "prevent_creation"}, run: (*Server).openConversation},
		"users.conversations":   {perMinute: tier3, known: []string{"user", "types", "exclude_archived", "limit", "cursor", "team_id"}, run: (*Server).listJoined},
		"usergroups.list":       {perMinute: tier2, known: []string{"include_count", "include_disabled", "include_users", "team_id"}, scope: "usergroups:read", run: (*Server).listGroups},
		"users.info":            {perMinute: tier4, scope: "users:read", known: []string{"user", "include_locale"}, required: []string{"user"}, run: (*Server).userInfo},
		"reactions.add":         {perMinute: tier3, known: []string{"channel", "name", "timestamp"}, required: []string{"channel", "name", "timestamp"}, run: (*Server).addReaction},
		"reactions.remove":      {perMinute: tier2, known: []string{"channel", "name", "timestamp"}, required: []string{"channel", "name", "timestamp"}, run: (*Server).removeReaction},
		"views.open":            {perMinute: tier4, known: []string{"trigger_id", "view"}, required: []string{"trigger_id", "view"}, run: (*Server).openView},
		"views.push":            {perMinute: tier4, known: []string{"trigger_id", "view"}, required: []string{"trigger_id", "view"}, run: (*Server).pushView},
		"views.update":          {perMinute: tier4, known: []string{"view_id", "external_id", "hash", "view"}, required: []string{"view"}, run: (*Server).updateView},
		"views.publish":         {perMinute: tier4, known: []string{"user_id", "hash", "view"}, required: []string{"user_id", "view"}, run: (*Server).publishView},

		"assistant.threads.setStatus":           {perMinute: 600, known: []string{"channel_id", "thread_ts", "status", "loading_messages", "username", "icon_emoji", "icon_url"}, required: []string{"channel_id", "thread_ts"}, run: (*Server).setStatus},
		"assistant.threads.setTitle":            {perMinute: tier2, known: []string{"channel_id", "thread_ts", "title"}, required: []string{"channel_id", "thread_ts", "title"}, run: (*Server).setTitle},
		"assistant.threads.setSuggestedPrompts": {perMinute: tier3, known: []string{"channel_id", "thread_ts", "title", "prompts"}, required: []string{"channel_id", "prompts"}, run: (*Server).setPrompts},
		"agents.sessions.setStatus":             {perMinute: tier3, known: []string{"channel_id", "thread_ts", "status", "title", "initiator_user_id"}, required: []string{"status"}, run: (*Server).setSession},
		"agents.sessions.rename":                {perMinute: tier3, known: []string{"channel_id", "thread_ts", "title"}, required: []string{"title"}, run: (*Server).renameSession},

		"files.getUploadURLExternal":   {perMinute: tier4, known: []string{"filename", "length", "alt_txt", "snippet_type"}, required: []string{"filename", "length"}, run: (*Server).uploadURL},
		"files.completeUploadExternal": {perMinute: tier4, known: []string{"files", "channel_id", "channels", "thread_ts", "initial_comment", "blocks"}, required: []string{"files"}, run: (*Server).completeUpload},
		"files.info":                   {perMinute: tier4, known: []string{"file", "count", "page", "cursor", "limit"}, required: []string{"file"}, run: (*Server).fileInfo},
		"apps.connections.open":        {perMinute: tier2, anyone: true, run: (*Server).openSocket},
		"oauth.v2.access":              {perMinute: 600, anyone: true, known: []string{"client_id", "client_secret", "code", "redirect_uri", "grant_type", "refresh_token"}, run: (*Server).oauthAccess},
		"auth.revoke":                  {perMinute: tier3, known: []string{"test"}, run: (*Server).revokeToken},
	}
}

// serveCall serves one call.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	called, err := readArgs(r)
	if err != nil {
		writeAnswer(w, nil, newAPIError("invalid_form_data", err.Error()))
		return
	}
	fault := s.takeFault(name)
	if fault != nil && fault.Late > 0 {
		fault = delayRequest(r, *fault)
	}
	if fault != nil && !fault.Done {
		s.recordCall(name, called, "fault: "+fault.Error)
		s.applyFault(w, r, *fault)
		return
	}
	result, refused := s.handleCall(name, r, called)
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.options.Scopes, ","))
	switch {
	case refused != nil && refused.Name == errRateLimited:
		w.Header().Set("Retry-After", refused.Messages[0])
		w.WriteHeader(http.StatusTooManyRequests)
		writeAnswer(w, nil, newAPIError(errRateLimited))
	case fault != nil:
		s.applyFault(w, r, *fault)
	default:
		writeAnswer(w, result, refused)
	}
}

func (s *Server) takeFault(method string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults[method]) == 0 && s.disturb != nil {
		if fault, ok := s.disturb(method); ok {
			return &fault
		}
	}
	if len(s.faults[method]) == 0 {
		return nil
	}
	fault := s.faults[method][0]
	s.faults[method] = s.faults[method][1:]
	return &fault
}

// delayRequest waits until a request that is late is carried out, and gives what is left of its
// fault; nil: nothing.
func delayRequest(r *http.Request, fault Fault) *Fault {
	if fault.Hang {
		<-r.Context().Done()
	}
	<-time.After(fault.Late)
	if fault.Hang {
		return &Fault{Done: true, Hang: true}
	}
	if fault.Late = 0; fault == (Fault{}) {
		return nil
	}
	return &fault
}

func (s *Server) applyFault(w http.ResponseWriter, r *http.Request, fault Fault) {
	if fault.Hang {
		<-r.Context().Done()
		return
	}
	if fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(fault.RetryAfter.Seconds())))
	}
	if fault.Status != 0 {
		w.WriteHeader(fault.Status)
	}
	if fault.Error != "" {
		writeAnswer(w, nil, newAPIError(fault.Error))
	}
}

// handleCall checks and carries out one call.
func (s *Server) handleCall(name string, r *http.Request, called args) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	result, refused := s.performCall(name, r, called)
	problem := ""
	if refused != nil {
		problem = refused.Name
	}
	s.calls = append(s.calls, Call{name, problem, s.clock.Now(), maps.Clone(called)})
	close(s.called)
	s.called = make(chan struct{})
	return result, refused
}

func (s *Server) performCall(name string, r *http.Request, called args) (any, *apiError) {
	is, ok := s.methods[name]
	if !ok {
		return nil, newAPIError("unknown_method")
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = called["token"]
	}
	delete(called, "token")
	work := &request{args: called, install: s.tokens[token]}
	switch {
	case is.anyone:
		work.args["token"] = token
	case token == "":
		return nil, newAPIError("not_authed")
	case work.install == nil:
		return nil, newAPIError("invalid_auth")
	case !work.install.expires.IsZero() && s.clock.Now().After(work.install.expires):
		return nil, newAPIError("token_expired")
	}
	if is.scope != "" && !slices.Contains(s.options.Scopes, is.scope) {
		return nil, newAPIError("missing_scope")
	}
	for argument := range called {
		if argument != "token" && !slices.Contains(is.known, argument) {
			return nil, newAPIError("invalid_arguments", "[ERROR] unknown argument: "+argument)
		}
	}
	for _, argument := range is.required {
		if called[argument] == "" {
			return nil, newAPIError("invalid_arguments", "[ERROR] missing required field: "+argument)
		}
	}
	limited := name
	if is.perChannel {
		limited += " " + called["channel"]
	}
	if wait := s.countCall(limited, is); wait > 0 {
		return nil, newAPIError(errRateLimited, strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	return is.run(s, work)
}

// window counts the calls of the last minute, or for limits of channels the last call.
type window struct{ calls []time.Time }

// countCall counts a call, or tells how long until it may be made.
func (s *Server) countCall(key string, is method) time.Duration {
	if s.options.Unlimited {
		return 0
	}
	span, most := time.Minute, is.perMinute
	if is.perChannel {
		span, most = time.Minute/time.Duration(is.perMinute), 1
	}
	seen := s.limits[key]
	if seen == nil {
		seen = &window{}
		s.limits[key] = seen
	}
	now := s.clock.Now()
	seen.calls = slices.DeleteFunc(seen.calls, func(at time.Time) bool { return !now.Before(at.Add(span)) })
	if len(seen.calls) >= most {
		return seen.calls[0].Add(span).Sub(now)
	}
	seen.calls = append(seen.calls, now)
	return 0
}

func (s *Server) recordCall(name string, called args, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(called, "token")
	s.calls = append(s.calls, Call{name, problem, s.clock.Now(), maps.Clone(called)})
}

// readArgs reads a form or a JSON object.
func readArgs(r *http.Request) (args, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return nil, fmt.Errorf("content type: %w", err)
	}
	read := args{}
	if media != "application/json" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		for name, values := range r.Form {
			read[name] = values[0]
		}
		return read, nil
	}
	var object map[string]json.RawMessage
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return read, nil
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	for name, value := range object {
		read[name] = string(value)
		var plain string
		if json.Unmarshal(value, &plain) == nil {
			read[name] = plain
		}
	}
	return read, nil
}

type metadata struct {
	Messages   []string `json:"messages,omitempty"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

// writeAnswer writes what a method gave: an object, to which "ok" is added, or an error.
func writeAnswer(w http.ResponseWriter, result any, refused *apiError) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if refused != nil {
		body := struct {
			OK       bool      `json:"ok"`
			Error    string    `json:"error"`
			Errors   []string  `json:"errors,omitempty"`
			Metadata *metadata `json:"response_metadata,omitempty"`
		}{Error: refused.Name}
		if len(refused.Messages) > 0 {
			body.Metadata = &metadata{Messages: refused.Messages}
			for _, message := range refused.Messages {
				body.Errors = append(body.Errors, strings.TrimPrefix(message, "[ERROR] "))
			}
		}
		encode(w, body)
		return
	}
	fields := map[string]json.RawMessage{}
	if result != nil {
		if err := json.Unmarshal(mustJSON(result), &fields); err != nil {
			panic("slacktest: a method gave no object: " + err.Error())
		}
	}
	fields["ok"] = json.RawMessage("true")
	encode(w, fields)
}

func encode(w io.Writer, value any) {
	// The app may have hung up; then nobody is left to tell.
	fmt.Fprintf(w, "%s\n", mustJSON(value))
}

func mustJSON(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("slacktest: encode: " + err.Error())
	}
	return raw
}
