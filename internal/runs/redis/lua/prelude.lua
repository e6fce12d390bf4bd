-- What all scripts begin with. Times are the server's, in milliseconds. What is asked once is
-- not asked again, also where several scripts run as one.
local millis, micros
local function clock()
  if not millis then
    local t = redis.call('TIME')
    millis, micros = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
  end
  return millis, micros
end
local function int(n) return string.format('%.0f', n) end
local LOST = redis.error_reply('LOST the lease was lost')

-- held tells whether the token is that of the thread's lease, and renews it if it is. Where
-- a batch of events is given it notes that, and tells whether it is a new one.
local leases = {}
local function held(state, token, ttl, batch)
  local lease = leases[state] or redis.call('HMGET', state, 'token', 'worker', 'batch')
  leases[state] = lease
  if not lease[2] or lease[1] ~= token then return false end
  local fresh = batch and lease[3] ~= batch
  if fresh then
    redis.call('HSET', state, 'until', int(clock() + ttl), 'batch', batch)
    lease[3] = batch
  elseif not lease.renewed then
    redis.call('HSET', state, 'until', int(clock() + ttl))
  end
  lease.renewed = true
  return true, fresh
end

-- promote puts the delayed jobs of a thread that are due at the end of its queue, and gives
-- when the next is, if there is one. It removes first: so a full Redis lets it go on, and
-- work drains.
local function promote(jobs, delayed, now)
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  for _ = 1, 100 do
    if not first[2] or tonumber(first[2]) > now then break end
    redis.call('ZREM', delayed, first[1])
    redis.call('RPUSH', jobs, int(now) .. ' ' .. first[1])
    first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  end
  return first[2]
end

-- upcoming tells when a thread with no lease is to be looked at: {'again'} at once,
-- {'later', in how many ms} or {'none'}; and how many jobs it has that are due.
local function upcoming(state, jobs, delayed, now)
  local next = promote(jobs, delayed, now)
  local queued = redis.call('LLEN', jobs)
  if queued > 0 then
    local notbefore = tonumber(redis.call('HGET', state, 'notbefore') or 0)
    if notbefore > now then return {'later', notbefore - now}, queued end
    return {'again', 0}, queued
  end
  if next then return {'later', math.max(1, next - now)}, 0 end
  return {'none', 0}, 0
end

-- notice puts a thread into the stream unless it is there; in that case whoever settles
-- that notice looks again.
local function notice(ready, noticed, thread)
  local known = redis.call('HGET', noticed, thread)
  if not known then
    redis.call('HSET', noticed, thread, redis.call('XADD', ready, '*', 'thread', thread))
  elseif known:sub(-1) ~= '+' then
    redis.call('HSET', noticed, thread, known .. '+')
  end
end

-- settle ends a thread's notice: what is 'again', 'later' (in so many ms) or 'none'. Where
-- the thread has a later notice, that one stands for it: the threads of a long queue that are
-- announced anew (reannounce) would have more and more of them otherwise.
local function settle(ready, due, noticed, thread, group, id, what, ms)
  local known = redis.call('HGET', noticed, thread)
  local dirty = known and known:sub(-1) == '+'
  local other = known and known ~= id and known ~= id .. '+'
  redis.call('XACK', ready, group, id)
  redis.call('XDEL', ready, id)
  if what == 'later' then redis.call('ZADD', due, 'LT', int(clock() + ms), thread) end
  if other then return end
  redis.call('HDEL', noticed, thread)
  if what == 'again' or dirty then notice(ready, noticed, thread) end
end
