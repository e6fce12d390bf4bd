package gatewaytest

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Operations of the gateway.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoice          = 4
	opResume         = 6
	opReconnect      = 7
	opMembers        = 8
	opInvalidSession = 9
	opHello          = 10
	opAck            = 11
)

// session is what a client resumes: the events of a shard, numbered.
type session struct {
	id            string
	shard, shards int
	intents       int
	seq           int64
	events        []event // that were not said to be received
	trimmed       int64   // the last number that can't be replayed
	connection    *connection
}

type event struct {
	seq   int64
	frame []byte
}

// payload is what is sent either way.
type payload struct {
	Type *string         `json:"t"`
	Seq  *int64          `json:"s"`
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
}

// encode never fails: what it is given was checked to be JSON.
func encode(p payload) []byte {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return raw
}

// dispatchEvent numbers an event, keeps it and sends it where somebody listens.
func (s *session) dispatchEvent(eventType string, data json.RawMessage, broken bool) {
	s.seq++
	seq := s.seq
	frame := encode(payload{Type: &eventType, Seq: &seq, Op: opDispatch, Data: data})
	if broken {
		frame = frame[:len(frame)-1-len(data)/2] // its end is missing
	}
	s.events = append(s.events, event{seq, frame})
	if len(s.events) > maxReplay {
		s.trimEvents(s.events[0].seq)
	}
	if s.connection != nil {
		s.connection.sendFrame(frame)
	}
}

// trimEvents forgets the events up to a number.
func (s *session) trimEvents(seq int64) {
	s.trimmed = max(s.trimmed, seq)
	kept := 0
	for kept < len(s.events) && s.events[kept].seq <= seq {
		kept++
	}
	s.events = s.events[kept:]
}

// shardOf is Discord's formula. An id that is no number counts as 0.
func shardOf(guildID string, shards int) int {
	id, err := strconv.ParseUint(guildID, 10, 64)
	if err != nil || shards < 1 {
		return 0
	}
	return int((id >> 22) % uint64(shards))
}

// intentsOf are the bits, in a guild and in direct messages, without which events of a
// type whose name begins so are not sent.
var intentsOf = []struct {
	prefix        string
	guild, direct int
}{
	{"GUILD_MEMBER_", 1 << 1, 1 << 1},
	{"GUILD_BAN_", 1 << 2, 1 << 2},
	{"GUILD_", 1 << 0, 1 << 0},
	{"CHANNEL_PINS_", 1 << 0, 1 << 12},
	{"CHANNEL_", 1 << 0, 1 << 0},
	{"THREAD_", 1 << 0, 1 << 0},
	{"PRESENCE_UPDATE", 1 << 8, 1 << 8},
	{"MESSAGE_REACTION_", 1 << 10, 1 << 13},
	{"MESSAGE_POLL_", 1 << 24, 1 << 25},
	{"MESSAGE_", 1 << 9, 1 << 12},
	{"TYPING_START", 1 << 11, 1 << 14},
}

func wantsEvent(intents int, eventType string, direct bool) bool {
	for _, known := range intentsOf {
		if !strings.HasPrefix(eventType, known.prefix) {
			continue
		}
		if direct {
			return intents&known.direct != 0
		}
		return intents&known.guild != 0
	}
	return true // interactions and the like come without being asked for
}
