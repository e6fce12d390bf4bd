-- KEYS state, jobs, delayed   ARGV worker, id of the notice, of the call, ttl, since when the servers know all
-- Gives {'leased', token, attempt, stopby, stopat, head, now, how many jobs there are, unsure}, {'held'} where the lease that
-- the notice stands for lives, or what upcoming gives. Where another lease lives, that is
-- its end: its own notice may be lost. A job that came before the server forgot what came
-- last may be at work under a lease that is forgotten: it waits until that has run out.
local now, micros = clock()
promote(KEYS[2], KEYS[3], now)
local s = redis.call('HMGET', KEYS[1], 'token', 'worker', 'until', 'notice', 'call', 'notbefore', 'attempt', 'stopby', 'stopat', 'batch', 'unsure')
local again = s[2] and s[5] == ARGV[3] -- the answer to the same call was lost
if s[2] and not again and tonumber(s[3]) > now then
  if s[4] == ARGV[2] then return {'held', 0} end
  return {'later', tonumber(s[3]) - now + 1}
end
local head = redis.call('LINDEX', KEYS[2], 0)
if not head or (not again and tonumber(s[6] or 0) > now) then
  return (upcoming(KEYS[1], KEYS[2], KEYS[3], now))
end
local since = tonumber(ARGV[5])
if not again and now < since + ARGV[4] and tonumber(head:match('^%d+') or 0) < since then
  return {'later', since + ARGV[4] - now}
end
if not again then
  if s[1] then redis.call('PERSIST', KEYS[1]) end
  s[1] = int(math.max((tonumber(s[1]) or 0) + 1, micros))
  s[7] = int((tonumber(s[7]) or 0) + 1)
  redis.call('HSET', KEYS[1], 'token', s[1], 'worker', ARGV[1], 'until', int(now + ARGV[4]),
    'notice', ARGV[2], 'call', ARGV[3], 'attempt', s[7])
  if s[2] then -- whoever had it died, and nobody knows what it asked of a platform last
    s[11] = int(now)
    redis.call('HSET', KEYS[1], 'unsure', s[11])
  end
  if s[6] or s[10] then redis.call('HDEL', KEYS[1], 'batch', 'notbefore') end
end
return {'leased', s[1], s[7], s[8] or '', s[9] or '', head, int(now), redis.call('LLEN', KEYS[2]), s[11] or ''}
