package quota

import (
	"context"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// clock is what both scripts begin with.
const clock = `
local t = redis.call('TIME')
local now, day = t[1] * 1000 + math.floor(t[2] / 1000), math.floor(t[1] / 86400)
local today = string.format('%.0f', day)`

// takeScript gives which meter is full, why ('questions' or 'cost') and for how long (ms);
// meter 0 where none is.
//
//	KEYS of each meter: asked, spent
//	ARGV id, then of each meter: how many questions, and how much cost, it has room for; 0: any
var takeScript = goredis.NewScript(clock + `
local hour = 3600000
local full, why, wait = 0, '', 0
local function found(meter, reason, left)
  if left > wait then full, why, wait = meter, reason, left end
end
for i = 1, #KEYS / 2 do
  local asked, spent = KEYS[2 * i - 1], KEYS[2 * i]
  local questions, cost = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  if questions > 0 then
    redis.call('ZREMRANGEBYSCORE', asked, '-inf', string.format('%.0f', now - hour))
    if redis.call('ZSCORE', asked, ARGV[1]) then return {0, '', 0} end
    local frees = redis.call('ZRANGE', asked, -questions, -questions, 'WITHSCORES')
    if frees[2] then found(i, 'questions', frees[2] + hour - now) end
  end
  if cost > 0 and tonumber(redis.call('HGET', spent, today) or 0) >= cost then
    found(i, 'cost', (day + 1) * 86400000 - now)
  end
end
if full > 0 then return {full, why, wait} end
for i = 1, #KEYS / 2 do
  if tonumber(ARGV[2 * i]) > 0 then
    redis.call('ZADD', KEYS[2 * i - 1], string.format('%.0f', now), ARGV[1])
    redis.call('PEXPIRE', KEYS[2 * i - 1], hour)
  end
end
return {0, '', 0}`)

// spendScript adds to what was spent today.
//
//	KEYS spent, of each meter
//	ARGV millionths
var spendScript = goredis.NewScript(clock + `
for i = 1, #KEYS do
  for _, other in ipairs(redis.call('HKEYS', KEYS[i])) do
    if other ~= today then redis.call('HDEL', KEYS[i], other) end
  end
  redis.call('HINCRBY', KEYS[i], today, ARGV[1])
  redis.call('PEXPIRE', KEYS[i], 172800000)
end
return 1`)

// Redis is a Counts in a Redis.
//
// {quota} keeps all of it on one server of a cluster, so that a question is counted against
// its author and its channel in one script. {M} is a meter's name with { } % * written as
// %7B %7D %25 %2A.
//
//	key                      type  what
//	cairn:{quota}:asked:{M}  zset  ids of questions by when they were asked (ms); an hour after the last
//	cairn:{quota}:spent:{M}  hash  millionths by day (since 1970, of UTC), of the last day alone; two days after the last
type Redis struct{ client *conn.Client }

var _ Counts = (*Redis)(nil)

// OpenRedis returns what was asked and spent in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client: client} }

var escaper = strings.NewReplacer("{", "%7B", "}", "%7D", "%", "%25", "*", "%2A")

func keyOf(what, meter string) string { return "cairn:{quota}:" + what + ":" + escaper.Replace(meter) }

// Take implements Counts.
func (s *Redis) Take(ctx context.Context, id string, meters []Meter) (*Full, error) {
	var keys []string
	arguments := []any{id}
	for _, meter := range meters {
		keys = append(keys, keyOf("asked", meter.Name), keyOf("spent", meter.Name))
		arguments = append(arguments, meter.Questions, meter.Cost)
	}
	answer, err := takeScript.Run(ctx, s.client, keys, arguments...).Slice()
	if err != nil {
		return nil, fmt.Errorf("count question %s: %w", id, conn.Explain(err))
	}
	full, err := readRefusal(answer)
	if err != nil {
		return nil, fmt.Errorf("count question %s: %w", id, err)
	}
	return full, nil
}

// readRefusal reads what takeScript gave.
func readRefusal(answer []any) (*Full, error) {
	if len(answer) == 3 {
		meter, isMeter := answer[0].(int64)
		why, isText := answer[1].(string)
		wait, isWait := answer[2].(int64)
		switch {
		case !isMeter || !isText || !isWait:
		case meter == 0:
			return nil, nil //nolint:nilnil // as Counts has it: no meter is full
		default:
			return &Full{Meter: int(meter) - 1, By: By(why), Wait: time.Duration(wait) * time.Millisecond}, nil
		}
	}
	return nil, fmt.Errorf("the script gave %v", answer)
}

// Spend implements Counts.
func (s *Redis) Spend(ctx context.Context, names []string, millionths int64) error {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = keyOf("spent", name)
	}
	if err := spendScript.Run(ctx, s.client, keys, millionths).Err(); err != nil {
		return fmt.Errorf("count what was spent: %w", conn.Explain(err))
	}
	return nil
}
