-- KEYS state, jobs, delayed, outbox, dead, checkpoint of a run that is over[, ready, due, noticed]
-- ARGV token, of the call, 'finished' | 'again' | 'left' | 'dead' | 'released', pause, reason, event, '1' if a run is over, keep,
--      thread, group, id of its notice, 'sure', 'before' or '' of what a platform was asked for
-- Gives what upcoming gives. Where ready is on the same server the notice is settled, too.
local function done(comes)
  if KEYS[7] then settle(KEYS[7], KEYS[8], KEYS[9], ARGV[9], ARGV[10], ARGV[11], comes[1], comes[2]) end
  return comes
end
local now = clock()
local s = redis.call('HMGET', KEYS[1], 'token', 'worker', 'ended')
local ended = ARGV[1] .. ' ' .. ARGV[2]
if s[3] == ended then return done((upcoming(KEYS[1], KEYS[2], KEYS[3], now))) end -- the answer to the same call was lost
if not s[2] or s[1] ~= ARGV[1] then return LOST end
local what = ARGV[3]
if what ~= 'released' then
  for _, field in ipairs(redis.call('HKEYS', KEYS[4])) do
    if field:sub(1, 2) == 'p:' then redis.call('HDEL', KEYS[4], field, 'b:' .. field:sub(3)) end
  end
  if ARGV[7] == '1' then redis.call('DEL', KEYS[6]) end
end
local over = {'worker', 'until', 'notice', 'call', 'batch'}
if what == 'finished' or what == 'dead' then
  for _, field in ipairs({'attempt', 'notbefore', 'reason', 'stopby', 'stopat', 'unsure'}) do over[#over + 1] = field end
end
if ARGV[12] == 'sure' then over[#over + 1] = 'unsure' end
redis.call('HDEL', KEYS[1], unpack(over))
redis.call('HSET', KEYS[1], 'ended', ended)
if what == 'left' then redis.call('HINCRBY', KEYS[1], 'attempt', -1) end
if what ~= 'finished' and what ~= 'dead' and ARGV[12] == '' then redis.call('HSET', KEYS[1], 'unsure', int(now)) end
if what == 'again' or what == 'left' then
  redis.call('HSET', KEYS[1], 'notbefore', int(now + ARGV[4]), 'reason', ARGV[5])
elseif what == 'released' then
  redis.call('HINCRBY', KEYS[1], 'attempt', -1)
else
  local head = redis.call('LPOP', KEYS[2])
  if head and what == 'dead' then
    redis.call('HSET', KEYS[5], 'b:' .. ARGV[6], head, 'r:' .. ARGV[6], int(now) .. ' ' .. ARGV[5])
    redis.call('PEXPIRE', KEYS[5], ARGV[8])
  end
end
local comes, queued = upcoming(KEYS[1], KEYS[2], KEYS[3], now)
if queued == 0 then redis.call('PEXPIRE', KEYS[1], 60000) end
return done(comes)
