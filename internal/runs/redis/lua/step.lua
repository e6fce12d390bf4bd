-- KEYS state, checkpoint, events
-- ARGV token, ttl, '1' if there is a checkpoint, checkpoint, keep, batch, events kept, how long, channel, {run, kind, body}…
local s = redis.call('HMGET', KEYS[1], 'token', 'worker', 'batch')
if not s[2] or s[1] ~= ARGV[1] then return LOST end
local fresh = ARGV[10] and s[3] ~= ARGV[6]
local lasts = int(clock() + ARGV[2])
if fresh then
  redis.call('HSET', KEYS[1], 'until', lasts, 'batch', ARGV[6])
else
  redis.call('HSET', KEYS[1], 'until', lasts)
end
if ARGV[3] == '1' then redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5]) end
if fresh then
  local last
  for i = 10, #ARGV, 3 do
    last = redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[7], '*', 'r', ARGV[i], 'k', ARGV[i + 1], 'b', ARGV[i + 2])
  end
  redis.call('PEXPIRE', KEYS[3], ARGV[8])
  redis.call('PUBLISH', ARGV[9], last)
end
return 1
