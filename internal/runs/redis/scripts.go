package redis

import (
	"context"
	"embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"cairn/internal/redis/conn"
	"cairn/internal/redis/script"
	"cairn/internal/runs"
)

//go:embed lua/*.lua
var scriptSources embed.FS

var (
	enqueueScript    = loadScript("enqueue")
	intendScript     = loadScript("intend")
	announceScript   = loadScript("announce")
	reannounceScript = loadScript("reannounce")
	settleScript     = loadScript("settle")
	promoteScript    = loadScript("promote")
	claimScript      = loadScript("claim")
	renewScript      = loadScript("renew")
	finishScript     = loadScript("finish")
	stopScript       = loadScript("stop")
	stepScript       = loadScript("step")
	recordScript     = loadScript("record")
	confirmScript    = loadScript("confirm")
	recordedScript   = loadScript("recorded")
	dropScript       = loadScript("drop")
	replayScript     = loadScript("replay")
	forgetScript     = loadScript("forget")
	saveScript       = loadScript("save")
	listScript       = loadScript("list")
	rateScript       = loadScript("rate")
)

func loadScript(name string) *script.Script {
	prelude, err := scriptSources.ReadFile("lua/prelude.lua")
	if err != nil {
		panic(err) // it is embedded
	}
	body, err := scriptSources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	return script.New(string(prelude), string(body))
}

// runScripts runs scripts for their effect (see script.Do).
func runScripts(ctx context.Context, client *conn.Client, calls ...script.Call) error {
	return explainError(script.Do(ctx, client, calls...))
}

// explainError maps the refusals of scripts to errors of package runs, and adds a remedy to
// errors of Redis.
func explainError(err error) error {
	if redis.HasErrorPrefix(err, "LOST") {
		return runs.ErrLost
	}
	return conn.Explain(err)
}

// requireKnown returns a handler of script results that gives the error unknown for a result of 0,
// by which a script reports that the subject does not exist.
func requireKnown(unknown error) func(context.Context, *redis.Cmd) error {
	return func(_ context.Context, result *redis.Cmd) error {
		changed, err := result.Int()
		if err == nil && changed == 0 {
			return unknown
		}
		return err
	}
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
