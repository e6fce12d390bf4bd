package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Operations of the gateway.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opAck            = 11
)

// maxFrame bounds what is read at once, in bytes. The largest is a GUILD_CREATE of a
// server with very many members.
const maxFrame = 64 << 20

// frame is a message of the gateway.
type frame struct {
	Op   int             `json:"op"`
	Seq  int64           `json:"s"` // 0 where there is none
	Type string          `json:"t"`
	Data json.RawMessage `json:"d"`
}

// parseFrame reads a message. Where it is malformed, the frame has what could be read of it
// before the fault, so that it can be told of and counted; its Op is then opDispatch only
// if it was read.
func parseFrame(raw []byte) (frame, error) {
	var got frame
	err := json.Unmarshal(raw, &got)
	if err == nil && got.Seq < 0 {
		err = errors.New("its number is below zero")
	}
	if err != nil {
		return salvageFrame(raw), fmt.Errorf("malformed message of the gateway: %w", err)
	}
	return got, nil
}

// salvageFrame reads the fields of a malformed message up to its fault.
func salvageFrame(raw []byte) frame {
	found := frame{Op: -1}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return found
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return found
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return found
		}
		switch name {
		case "op":
			err = json.Unmarshal(value, &found.Op)
		case "s":
			err = json.Unmarshal(value, &found.Seq)
		case "t":
			err = json.Unmarshal(value, &found.Type)
		}
		if err != nil || found.Seq < 0 {
			return frame{Op: -1}
		}
	}
	return found
}

// eventPlace holds the ids of an event's place. Each may be missing.
type eventPlace struct {
	ID        string `json:"id"`
	ChannelID string `json:"channel_id"`
	GuildID   string `json:"guild_id"`
}

// placeOf reads the place of an event. Its data may be of any shape: the fields that are
// not as they should be count as missing.
func placeOf(data json.RawMessage) eventPlace {
	var found eventPlace
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &found); err != nil && !errors.As(err, &wrongType) {
		return eventPlace{}
	}
	return found
}

// orderKey returns what events have in common that are handed over in their order: the channel,
// else the server, else the thing itself.
func orderKey(eventType string, at eventPlace) string {
	switch {
	case at.ChannelID != "":
		return at.ChannelID
	case strings.HasPrefix(eventType, "CHANNEL_"), strings.HasPrefix(eventType, "THREAD_") && at.ID != "":
		return at.ID
	case at.GuildID != "":
		return at.GuildID
	}
	return at.ID
}
