package redis

import (
	"context"
	"embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"cairn/internal/redis/conn"
	"cairn/internal/runs"
)

//go:embed lua/*.lua
var sources embed.FS

var (
	enqueueScript    = script("enqueue")
	intendScript     = script("intend")
	announceScript   = script("announce")
	reannounceScript = script("reannounce")
	settleScript     = script("settle")
	promoteScript    = script("promote")
	claimScript      = script("claim")
	renewScript      = script("renew")
	finishScript     = script("finish")
	stopScript       = script("stop")
	stepScript       = script("step")
	recordScript     = script("record")
	confirmScript    = script("confirm")
	recordedScript   = script("recorded")
	dropScript       = script("drop")
	replayScript     = script("replay")
	forgetScript     = script("forget")
	saveScript       = script("save")
	listScript       = script("list")
	rateScript       = script("rate")
)

func script(name string) *redis.Script {
	prelude, err := sources.ReadFile("lua/prelude.lua")
	if err != nil {
		panic(err) // it is embedded
	}
	body, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	return redis.NewScript(string(prelude) + string(body))
}

// call is a script with what it is given.
type call struct {
	script    *redis.Script
	keys      []string
	arguments []any
}

// run runs a script, which the server need not know yet.
func (c call) run(ctx context.Context, client *conn.Client) *redis.Cmd {
	return c.script.Run(ctx, client, c.keys, c.arguments...)
}

// do runs a script for its effect.
func (c call) do(ctx context.Context, client *conn.Client) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return explain(c.run(ctx, client).Err())
}

// inOrder runs scripts one after the other, in one round trip where they are all on one
// server. After an error some may have run. It gives the results.
func inOrder(ctx context.Context, client *conn.Client, calls ...call) ([]*redis.Cmd, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results := make([]*redis.Cmd, len(calls))
	if !client.Cluster {
		pipe := client.Pipeline()
		for i, c := range calls {
			results[i] = c.script.EvalSha(ctx, pipe, c.keys, c.arguments...)
		}
		_, err := pipe.Exec(ctx)
		if err == nil {
			return results, nil
		}
		if !redis.HasErrorPrefix(err, "NOSCRIPT") {
			return nil, explain(err)
		}
	}
	// Where the server did not know one of them, all run again, for the sake of their
	// order; what one gave that it knew stands.
	for i, c := range calls {
		result := c.run(ctx, client)
		if err := result.Err(); err != nil {
			return nil, explain(err)
		}
		if results[i] == nil || results[i].Err() != nil {
			results[i] = result
		}
	}
	return results, nil
}

// explain turns what a script refuses into an error of package runs, and adds the remedy
// to what Redis does.
func explain(err error) error {
	if redis.HasErrorPrefix(err, "LOST") {
		return runs.ErrLost
	}
	return conn.Explain(err)
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
