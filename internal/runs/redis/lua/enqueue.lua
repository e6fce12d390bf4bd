-- KEYS jobs, delayed, seen[, ready, due, noticed]   ARGV event, body, delay, how long events are told apart, thread
-- Where ready is on the same server the thread is announced, too.
-- The first write is one that a full Redis refuses: then nothing is written.
local now = clock()
local keep = tonumber(ARGV[4])
if redis.call('ZADD', KEYS[3], 'NX', int(now), ARGV[1]) == 0 then
  if tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1])) >= now - keep then return 0 end
  redis.call('ZADD', KEYS[3], int(now), ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. int(now - keep))
redis.call('PEXPIRE', KEYS[3], keep)
local delay = tonumber(ARGV[3])
if delay > 0 then
  redis.call('ZADD', KEYS[2], int(now + delay), ARGV[2])
  if KEYS[4] then redis.call('ZADD', KEYS[5], 'LT', int(now + delay), ARGV[5]) end
else
  redis.call('RPUSH', KEYS[1], int(now) .. ' ' .. ARGV[2])
  if KEYS[4] then
    redis.call('ZREM', KEYS[5], ARGV[5])
    notice(KEYS[4], KEYS[6], ARGV[5])
  end
end
return 1
