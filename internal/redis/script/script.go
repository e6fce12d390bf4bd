// Package script runs Lua scripts in Redis: one alone, or several as one.
//
// Each script costs a round trip and the server's call of it, which is more than what most
// scripts do. So what is written about one thing, by several stores, is written together
// (Together): in one script that runs the others one after the other, and ends with the
// first that fails.
package script

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"cairn/internal/redis/conn"
)

// Script is a Lua script. It sees KEYS and ARGV, returns something, and leaves
// globals alone.
type Script struct {
	number        byte // tells it from others
	prelude, body string
	alone         *redis.Script
}

var scriptCount atomic.Uint32

// New makes a script, of a program's few. The prelude is local functions that several
// scripts begin with; it is the same text in each of them.
func New(prelude, body string) *Script {
	number := scriptCount.Add(1)
	if number > math.MaxUint8 {
		panic("script: more than 255 scripts")
	}
	return &Script{byte(number), prelude, body, redis.NewScript(prelude + "\n" + body)}
}

// With returns a call of the script.
func (s *Script) With(keys []string, arguments ...any) Call {
	return Call{script: s, keys: keys, arguments: arguments}
}

// Call is a script with what it is given.
type Call struct {
	script    *Script
	keys      []string
	arguments []any
	then      func(ctx context.Context, result *redis.Cmd) error
}

// On adds keys.
func (c Call) On(keys ...string) Call {
	c.keys = slices.Concat(c.keys, keys)
	return c
}

// Then has what the script gives, or its error, handed to read, whose error is the call's.
func (c Call) Then(read func(ctx context.Context, result *redis.Cmd) error) Call {
	c.then = read
	return c
}

// Run runs the script at once, and gives what it gave. The server need not know it yet.
func (c Call) Run(ctx context.Context, client *conn.Client) *redis.Cmd {
	return c.script.alone.Run(ctx, client, c.keys, c.arguments...)
}

func (c Call) end(ctx context.Context, result *redis.Cmd) error {
	if c.then == nil {
		return result.Err()
	}
	return c.then(ctx, result)
}

// collectedCalls are the calls that Together runs at its end.
type collectedCalls struct{ calls []Call }

type collectedKey struct{}

// Do runs the calls in order until one fails: as one script where all keys are on one
// server. Inside Together they are only collected, and Do gives nil.
func Do(ctx context.Context, client *conn.Client, calls ...Call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if all, ok := ctx.Value(collectedKey{}).(*collectedCalls); ok {
		all.calls = append(all.calls, calls...)
		return nil
	}
	if client.Cluster || len(calls) == 1 {
		for _, c := range calls {
			if err := c.end(ctx, c.Run(ctx, client)); err != nil {
				return err
			}
		}
		return nil
	}
	return asOne(ctx, client, calls)
}

// Together runs, at the end of write and as one script, the calls that are made by Do with
// the context that write is given. What is read in write is read before. In a cluster each
// runs when it is made.
func Together(client *conn.Client) func(ctx context.Context, write func(ctx context.Context) error) error {
	if client.Cluster {
		return func(ctx context.Context, write func(ctx context.Context) error) error { return write(ctx) }
	}
	return func(ctx context.Context, write func(ctx context.Context) error) error {
		var all collectedCalls
		if err := write(context.WithValue(ctx, collectedKey{}, &all)); err != nil || len(all.calls) == 0 {
			return err
		}
		return Do(ctx, client, all.calls...)
	}
}

// asOne runs several scripts as one, and hands each of those that ran its result.
func asOne(ctx context.Context, client *conn.Client, calls []Call) error {
	scripts := make([]*Script, len(calls))
	var keys []string
	var sizes, arguments []any
	for i, c := range calls {
		scripts[i] = c.script
		keys = append(keys, c.keys...)
		sizes = append(sizes, len(c.keys), len(c.arguments))
		arguments = append(arguments, c.arguments...)
	}
	results, err := join(scripts).Run(ctx, client, keys, append(sizes, arguments...)...).Slice()
	for i, c := range calls {
		result := redis.NewCmdResult(nil, err)
		if i < len(results) {
			result = redis.NewCmdResult(results[i], nil)
			if failed, ok := results[i].(error); ok {
				result = redis.NewCmdResult(nil, failed)
			}
		}
		if err := c.end(ctx, result); err != nil {
			return err
		}
	}
	return nil
}

// joinedScripts are combined scripts, by the numbers of their parts.
var joinedScripts sync.Map

// join combines scripts into one: its arguments are the numbers of keys and arguments of each,
// then the arguments of all; its results are theirs, up to the first error.
func join(scripts []*Script) *redis.Script {
	numbers := make([]byte, len(scripts))
	for i, s := range scripts {
		numbers[i] = s.number
	}
	if known, ok := joinedScripts.Load(string(numbers)); ok {
		return known.(*redis.Script) //nolint:forcetypeassert // nothing else is stored
	}
	var text strings.Builder
	preludes := make(map[string]struct{})
	for _, s := range scripts {
		if _, ok := preludes[s.prelude]; !ok {
			preludes[s.prelude] = struct{}{}
			text.WriteString(s.prelude + "\n")
		}
	}
	text.WriteString("local parts = {\n")
	for _, s := range scripts {
		text.WriteString("function(KEYS, ARGV)\n" + s.body + "\nend,\n")
	}
	text.WriteString(joinDriver)
	known, _ := joinedScripts.LoadOrStore(string(numbers), redis.NewScript(text.String()))
	return known.(*redis.Script) //nolint:forcetypeassert // nothing else is stored
}

const joinDriver = `}
local results, key, argument = {}, 0, 2 * #parts
for i, part in ipairs(parts) do
  local keys, arguments = {}, {}
  for n = 1, tonumber(ARGV[2 * i - 1]) do keys[n] = KEYS[key + n] end
  for n = 1, tonumber(ARGV[2 * i]) do arguments[n] = ARGV[argument + n] end
  key, argument = key + #keys, argument + #arguments
  results[i] = part(keys, arguments) or false
  if type(results[i]) == 'table' and results[i]['err'] then break end
end
return results`
