-- KEYS state, jobs, delayed[, session]
-- ARGV worker, id of the notice, of the call, ttl, since when the servers know all, how long sessions are kept
-- Gives {'leased', token, attempt, stopby, stopat, head, now, '1' if jobs wait behind, unsure, session}, {'held'} where the
-- lease that the notice stands for lives, or what upcoming gives. Where another lease lives, that is
-- its end: its own notice may be lost. A job that came before the server forgot what came
-- last may be at work under a lease that is forgotten: it waits until that has run out.
local now, micros = clock()
local names = {'token', 'worker', 'until', 'notice', 'call', 'notbefore', 'attempt', 'stopby', 'stopat', 'unsure', 'behind', 'outbox'}
local s = {}
for i, value in ipairs(redis.call('HMGET', KEYS[1], unpack(names))) do s[names[i]] = value end
local again = s.worker and s.call == ARGV[3] -- the answer to the same call was lost
if s.worker and not again and tonumber(s['until']) > now then
  if s.notice == ARGV[2] then return {'held', 0} end
  return {'later', tonumber(s['until']) - now + 1}
end
local queue = redis.call('LRANGE', KEYS[2], 0, 1)
if not queue[1] then
  promote(KEYS[2], KEYS[3], KEYS[1], now)
  queue = redis.call('LRANGE', KEYS[2], 0, 1)
end
local head = queue[1]
if not head or (not again and tonumber(s.notbefore or 0) > now) then
  return (upcoming(KEYS[1], KEYS[2], KEYS[3], now))
end
local since = tonumber(ARGV[5])
if not again and now < since + ARGV[4] and tonumber(head:match('^%d+') or 0) < since then
  return {'later', since + ARGV[4] - now}
end
if not again then
  if s.token then redis.call('PERSIST', KEYS[1]) end -- a full Redis lets what comes after it go on, too
  s.token = int(math.max((tonumber(s.token) or 0) + 1, micros))
  s.attempt = int((tonumber(s.attempt) or 0) + 1)
  local fields = {'token', s.token, 'worker', ARGV[1], 'until', int(now + ARGV[4]), 'notice', ARGV[2], 'call', ARGV[3], 'attempt', s.attempt}
  local function set(name, value) fields[#fields + 1], fields[#fields + 2] = name, value end
  if s.worker then -- whoever had it died, and nobody knows what it asked of a platform last
    s.unsure = int(now)
    set('unsure', s.unsure)
  end
  if queue[2] and not s.behind then set('behind', '1') end
  redis.call('HSET', KEYS[1], unpack(fields))
  if s.behind and not queue[2] then redis.call('HDEL', KEYS[1], 'behind') end
  if s.notbefore then redis.call('HDEL', KEYS[1], 'notbefore') end
end
return {'leased', s.token, s.attempt, s.stopby or '', s.stopat or '', head, int(now), queue[2] and '1' or '', s.unsure or '',
  KEYS[4] and redis.call('GETEX', KEYS[4], 'PX', ARGV[6]) or ''}
