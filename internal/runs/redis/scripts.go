package redis

import (
	"embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
	"github.com/cairn-bot/cairn/internal/runs"
)

//go:embed lua/*.lua
var scriptSources embed.FS

var (
	enqueueScript     = loadScript("enqueue")
	intendScript      = loadScript("intend")
	announceScript    = loadScript("announce")
	reannounceScript  = loadScript("reannounce")
	settleScript      = loadScript("settle")
	promoteScript     = loadScript("promote")
	claimScript       = loadScript("claim")
	renewScript       = loadScript("renew")
	commitScript      = loadScript("commit")
	stopScript        = loadScript("stop")
	recordedScript    = loadScript("recorded")
	dropScript        = loadScript("drop")
	replayScript      = loadScript("replay")
	forgetScript      = loadScript("forget")
	saveRecordScript  = loadScript("saverecord")
	saveSessionScript = loadScript("savesession")
	rateScript        = loadScript("rate")
)

// loadScript returns a script, which begins with the prelude of all.
func loadScript(name string) *redis.Script {
	prelude, err := scriptSources.ReadFile("lua/prelude.lua")
	if err != nil {
		panic(err) // it is embedded
	}
	body, err := scriptSources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	return redis.NewScript(string(prelude) + string(body))
}

// explainError maps the refusals of scripts to errors of package runs, and adds a remedy to
// errors of Redis.
func explainError(err error) error {
	switch {
	case redis.HasErrorPrefix(err, "LOST"):
		return runs.ErrLost
	case redis.HasErrorPrefix(err, "UNKNOWN"):
		return runs.ErrUnknownDelivery
	}
	return conn.Explain(err)
}

// requireKnown returns the error unknown for a script's result of 0, by which it reports that the
// subject does not exist.
func requireKnown(result *redis.Cmd, unknown error) error {
	changed, err := result.Int()
	if err == nil && changed == 0 {
		return unknown
	}
	return explainError(err)
}

// readStrings decodes a script's result that is a list.
func readStrings(result *redis.Cmd) ([]string, error) {
	values, err := result.Slice()
	if err != nil {
		return nil, explainError(err)
	}
	list := make([]string, len(values))
	for i, value := range values {
		switch value := value.(type) {
		case string:
			list[i] = value
		case int64:
			list[i] = fmt.Sprint(value)
		}
	}
	return list, nil
}
