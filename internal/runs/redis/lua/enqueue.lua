-- KEYS jobs, delayed, seen, state[, ready, due, noticed]   ARGV body, delay, how long events are told apart, thread
-- Where ready is on the same server the thread is announced, too.
-- The first write is one that a full Redis refuses: then nothing is written.
if not redis.call('SET', KEYS[3], '', 'NX', 'PX', ARGV[3]) then return 0 end
local delay = tonumber(ARGV[2])
if delay > 0 then
  local due = int(clock() + delay)
  redis.call('ZADD', KEYS[2], due, ARGV[1])
  if KEYS[5] then redis.call('ZADD', KEYS[6], 'LT', due, ARGV[4]) end
  return 1
end
local now = KEYS[5] and notice(KEYS[5], KEYS[7], ARGV[4]) or int(clock())
push(KEYS[1], KEYS[4], now .. ' ' .. ARGV[1])
return 1
