package gatewaytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// allIntents are the bits that mean something.
const allIntents = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25

func (s *Server) handleCommand(c *connection, got payload) {
	switch got.Op {
	case opHeartbeat:
		s.handleHeartbeat(c, got.Data)
	case opIdentify:
		s.handleIdentify(c, got.Data)
	case opResume:
		s.handleResume(c, got.Data)
	case opPresence, opVoice, opMembers:
		if c.session == nil {
			s.endLocked(c, 4003, "a payload before identify")
		}
	default:
		s.endLocked(c, 4001, fmt.Sprintf("unknown opcode %d", got.Op))
	}
}

func (s *Server) handleHeartbeat(c *connection, data json.RawMessage) {
	var seq *int64
	if err := json.Unmarshal(data, &seq); err != nil {
		s.endLocked(c, 4002, "a heartbeat without a number")
		return
	}
	if seq != nil && c.session != nil {
		if *seq > c.session.seq {
			s.endLocked(c, 4007, "a heartbeat with a number that was never sent")
			return
		}
		c.session.trimEvents(*seq)
	}
	c.beats.Reset(s.heartbeatGrace())
	s.state.Beats++
	s.signalChange()
	c.sendFrame(encode(payload{Op: opAck, Data: json.RawMessage("null")}))
}

// identification is the data of op 2.
type identification struct {
	Token      string `json:"token"`
	Properties *struct {
		OS      string `json:"os"`
		Browser string `json:"browser"`
		Device  string `json:"device"`
	} `json:"properties"`
	Compress       bool      `json:"compress"`
	LargeThreshold int       `json:"large_threshold"`
	Shard          []int     `json:"shard"`
	Presence       *presence `json:"presence"`
	Intents        *int      `json:"intents"`
}

type presence struct {
	Status     string            `json:"status"`
	Activities []json.RawMessage `json:"activities"`
	AFK        *bool             `json:"afk"`
}

func (s *Server) handleIdentify(c *connection, data json.RawMessage) {
	var asked identification
	if err := json.Unmarshal(data, &asked); err != nil {
		s.endLocked(c, 4002, "an identify that can't be decoded: "+err.Error())
		return
	}
	if asked.Shard == nil {
		asked.Shard = []int{0, 1}
	}
	if code, reason := s.checkIdentify(c, asked); code != 0 {
		s.endLocked(c, code, reason)
		return
	}
	now := time.Now()
	shard := asked.Shard[0]
	s.state.Identify = append(s.state.Identify, shard)
	s.forgetOldIdentifies(now)
	if s.started = append(s.started, now); len(s.started) > s.options.Identifies {
		s.tokenReset = true
		for each := range s.connections {
			s.endLocked(each, 4004, "the token was reset: too many identifies in a day")
		}
		return
	}
	bucket := shard % s.options.MaxConcurrency
	since := now.Sub(s.buckets[bucket])
	s.buckets[bucket] = now
	if since < s.options.IdentifyWindow {
		s.recordRefusal("shard %d identified %s after another of bucket %d, within %s", shard, since, bucket, s.options.IdentifyWindow)
		s.invalidateSession(c, false)
		return
	}
	if s.muted > 0 {
		s.muted--
		return
	}
	s.openSession(c, asked)
}

// checkIdentify returns the code and the reason for which an identify closes the connection.
func (s *Server) checkIdentify(c *connection, asked identification) (int, string) {
	shard := asked.Shard
	switch {
	case c.session != nil:
		return 4005, "identified twice"
	case c.over:
		return 4003, "an identify on a connection whose session is invalid"
	case c.resumes:
		return 4000, "an identify at the address for resuming"
	case asked.Token != s.options.Token || s.tokenReset:
		return 4004, "authentication failed"
	case asked.Properties == nil || asked.Properties.OS == "" || asked.Properties.Browser == "" || asked.Properties.Device == "":
		return 4002, "an identify without its properties"
	case asked.Compress:
		return 4002, "this gateway does not compress"
	case asked.LargeThreshold != 0 && (asked.LargeThreshold < 50 || asked.LargeThreshold > 250):
		return 4002, "large_threshold is from 50 to 250"
	case len(shard) != 2 || shard[0] < 0 || shard[1] < 1 || shard[0] >= shard[1]:
		return 4010, fmt.Sprintf("invalid shard %v", shard)
	case asked.Intents == nil || *asked.Intents&^allIntents != 0 || *asked.Intents < 0:
		return 4013, "invalid intents"
	case *asked.Intents&s.options.Refused != 0:
		return 4014, "disallowed intents"
	}
	if p := asked.Presence; p != nil {
		if !slices.Contains([]string{"online", "dnd", "idle", "invisible", "offline"}, p.Status) || p.Activities == nil || p.AFK == nil {
			return 4002, "an invalid presence"
		}
	}
	return 0, ""
}

func (s *Server) forgetOldIdentifies(now time.Time) {
	for len(s.started) > 0 && now.Sub(s.started[0]) > s.options.Day {
		s.started = s.started[1:]
	}
}

// openSession starts a session: READY, and a GUILD_CREATE for each guild of the shard.
func (s *Server) openSession(c *connection, asked identification) {
	s.sessionsNo++
	c.session = &session{
		id: fmt.Sprintf("session-%d", s.sessionsNo), shard: asked.Shard[0], shards: asked.Shard[1],
		intents: *asked.Intents, connection: c,
	}
	s.sessions[c.session.id] = c.session
	greeting := c.greeting
	type unavailable struct {
		ID          string `json:"id"`
		Unavailable bool   `json:"unavailable"`
	}
	ready := struct {
		Version     int             `json:"v"`
		User        json.RawMessage `json:"user"`
		Guilds      []unavailable   `json:"guilds"`
		SessionID   string          `json:"session_id"`
		ResumeURL   string          `json:"resume_gateway_url"`
		Shard       []int           `json:"shard"`
		Application json.RawMessage `json:"application"`
	}{10, greeting.User, []unavailable{}, c.session.id, serverAddress(s.second), asked.Shard, greeting.Application}
	var own []Guild
	for _, guild := range greeting.Guilds {
		if shardOf(guild.ID, c.session.shards) == c.session.shard {
			own = append(own, guild)
			ready.Guilds = append(ready.Guilds, unavailable{guild.ID, true})
		}
	}
	data, err := json.Marshal(ready)
	if err != nil {
		s.t.Errorf("the greeting is not JSON: %v", err)
		s.endLocked(c, 4000, "unknown error")
		return
	}
	c.session.dispatchEvent("READY", data, false)
	for _, guild := range own {
		if wantsEvent(c.session.intents, "GUILD_CREATE", false) {
			c.session.dispatchEvent("GUILD_CREATE", guild.Create, false)
		}
	}
	s.signalChange()
}

func (s *Server) handleResume(c *connection, data json.RawMessage) {
	var asked struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       *int64 `json:"seq"`
	}
	if err := json.Unmarshal(data, &asked); err != nil || asked.Seq == nil {
		s.endLocked(c, 4002, "a resume that can't be decoded")
		return
	}
	session := s.sessions[asked.SessionID]
	switch {
	case c.session != nil:
		s.endLocked(c, 4005, "resumed after it was identified")
	case asked.Token != s.options.Token || s.tokenReset:
		s.endLocked(c, 4004, "authentication failed")
	case !c.resumes:
		s.recordRefusal("a resume at the first address, not at resume_gateway_url")
		s.invalidateSession(c, false)
	case c.over || session == nil || *asked.Seq < session.trimmed:
		s.invalidateSession(c, false)
	case *asked.Seq > session.seq:
		s.deleteSession(session)
		s.endLocked(c, 4007, "a resume with a number that was never sent")
	default:
		s.continueSession(c, session, *asked.Seq)
	}
}

// continueSession replays what a client missed.
func (s *Server) continueSession(c *connection, session *session, seq int64) {
	if old := session.connection; old != nil {
		old.session = nil
		old.closeWith(4000, "the session was resumed on another connection")
	}
	c.session, session.connection = session, c
	for _, event := range session.events {
		if event.seq > seq {
			c.sendFrame(event.frame)
		}
	}
	session.dispatchEvent("RESUMED", json.RawMessage(`{}`), false)
	session.events = session.events[:len(session.events)-1] // it is not replayed itself
	s.state.Resume = append(s.state.Resume, session.shard)
	s.signalChange()
}

// invalidateSession tells a client that its session is over, or that it may resume it once more.
func (s *Server) invalidateSession(c *connection, resumable bool) {
	if c.session != nil {
		session := c.session
		c.session, session.connection = nil, nil
		if !resumable {
			s.deleteSession(session)
		}
	}
	c.over = !resumable
	data := json.RawMessage("false")
	if resumable {
		data = json.RawMessage("true")
	}
	c.sendFrame(encode(payload{Op: opInvalidSession, Data: data}))
	s.signalChange()
}
