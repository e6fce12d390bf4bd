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
var sources embed.FS

var (
	enqueueScript    = load("enqueue")
	intendScript     = load("intend")
	announceScript   = load("announce")
	reannounceScript = load("reannounce")
	settleScript     = load("settle")
	promoteScript    = load("promote")
	claimScript      = load("claim")
	renewScript      = load("renew")
	finishScript     = load("finish")
	stopScript       = load("stop")
	stepScript       = load("step")
	recordScript     = load("record")
	confirmScript    = load("confirm")
	recordedScript   = load("recorded")
	dropScript       = load("drop")
	replayScript     = load("replay")
	forgetScript     = load("forget")
	saveScript       = load("save")
	listScript       = load("list")
	rateScript       = load("rate")
)

func load(name string) *script.Script {
	prelude, err := sources.ReadFile("lua/prelude.lua")
	if err != nil {
		panic(err) // it is embedded
	}
	body, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	return script.New(string(prelude), string(body))
}

// do runs scripts for their effect (see script.Do).
func do(ctx context.Context, client *conn.Client, calls ...script.Call) error {
	return explain(script.Do(ctx, client, calls...))
}

// explain turns what a script refuses into an error of package runs, and adds the remedy
// to what Redis does.
func explain(err error) error {
	if redis.HasErrorPrefix(err, "LOST") {
		return runs.ErrLost
	}
	return conn.Explain(err)
}

// known reads what a script gives that changes nothing, and says so by 0, where it does not
// know what it is about: then it is unknown.
func known(unknown error) func(context.Context, *redis.Cmd) error {
	return func(_ context.Context, result *redis.Cmd) error {
		changed, err := result.Int()
		if err == nil && changed == 0 {
			return unknown
		}
		return err
	}
}

// texts reads the result of a script that gives a list.
func texts(result *redis.Cmd) ([]string, error) {
	values, err := result.Slice()
	if err != nil {
		return nil, explain(err)
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
