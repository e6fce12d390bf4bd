-- KEYS state, checkpoint, events
-- ARGV token, ttl, '1' if there is a checkpoint, checkpoint, keep, batch, events kept, how long, channel, {run, kind, body}…
local mine, fresh = held(KEYS[1], ARGV[1], ARGV[2], ARGV[10] and ARGV[6])
if not mine then return LOST end
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
