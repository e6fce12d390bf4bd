-- What all scripts begin with. Times are the server's, in milliseconds.
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
end
local function int(n) return string.format('%.0f', n) end
local LOST = redis.error_reply('LOST the lease was lost')

-- held tells whether the token is that of the thread's lease, and renews it if it is.
local function held(state, token, ttl, now)
  local s = redis.call('HMGET', state, 'token', 'worker')
  if not s[2] or s[1] ~= token then return false end
  redis.call('HSET', state, 'until', int(now + ttl))
  return true
end

-- promote puts the delayed jobs of a thread that are due at the end of its queue. It
-- removes first: so a full Redis lets it go on, and work drains.
local function promote(jobs, delayed, now)
  for _, body in ipairs(redis.call('ZRANGEBYSCORE', delayed, '-inf', int(now), 'LIMIT', 0, 100)) do
    redis.call('ZREM', delayed, body)
    redis.call('RPUSH', jobs, int(now) .. ' ' .. body)
  end
end

-- upcoming tells when a thread with no lease is to be looked at: {'again'} at once,
-- {'later', in how many ms} or {'none'}.
local function upcoming(state, jobs, delayed, now)
  if redis.call('LLEN', jobs) > 0 then
    local notbefore = tonumber(redis.call('HGET', state, 'notbefore') or 0)
    if notbefore > now then return {'later', notbefore - now} end
    return {'again', 0}
  end
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  if first[2] then return {'later', math.max(1, first[2] - now)} end
  return {'none', 0}
end

-- notice puts a thread into the stream unless it is there; in that case whoever settles
-- that notice looks again.
local function notice(ready, noticed, thread)
  if redis.call('HSETNX', noticed, thread, '1') == 1 then
    redis.call('XADD', ready, '*', 'thread', thread)
  else
    redis.call('HSET', noticed, thread, '2')
  end
end

-- settle ends a thread's notice: what is 'again', 'later' (in so many ms) or 'none'.
local function settle(ready, due, noticed, thread, group, id, what, ms)
  local dirty = redis.call('HGET', noticed, thread) == '2'
  redis.call('XACK', ready, group, id)
  redis.call('XDEL', ready, id)
  redis.call('HDEL', noticed, thread)
  if what == 'later' then redis.call('ZADD', due, 'LT', int(clock() + ms), thread) end
  if what == 'again' or dirty then notice(ready, noticed, thread) end
end
