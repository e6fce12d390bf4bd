-- What all scripts begin with. Times are the server's, in milliseconds.
local DAY = 86400000
local LOST = redis.error_reply('LOST the lease was lost')

local millis, micros
local function clock()
  if not millis then
    local t = redis.call('TIME')
    millis, micros = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
  end
  return millis, micros
end
local function int(n) return string.format('%.0f', n) end

-- held tells whether the token is that of the thread's lease, and renews it if it is.
local function held(state, token, ttl)
  local lease = redis.call('HMGET', state, 'token', 'worker')
  if not lease[2] or lease[1] ~= token then return false end
  redis.call('HSET', state, 'until', int(clock() + ttl))
  return true
end

-- push puts a job at the end of a queue. That it waits behind others is noted for the worker
-- that has the thread.
local function push(jobs, state, job)
  if redis.call('RPUSH', jobs, job) > 1 then redis.call('HSET', state, 'behind', '1') end
end

-- promote puts the delayed jobs of a thread that are due at the end of its queue, and gives
-- when the next is, if there is one. It removes first: so a full Redis lets it go on, and
-- work drains.
local function promote(jobs, delayed, state, now)
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  for _ = 1, 100 do
    if not first[2] or tonumber(first[2]) > now then break end
    redis.call('ZREM', delayed, first[1])
    push(jobs, state, int(now) .. ' ' .. first[1])
    first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  end
  return first[2]
end

-- upcoming tells when a thread with no lease is to be looked at: {'again'} at once,
-- {'later', in how many ms} or {'none'}; and how many jobs it has that are due.
local function upcoming(state, jobs, delayed, now)
  local next = promote(jobs, delayed, state, now)
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
-- that notice looks again. It gives the time of its entry, also of one that is gone again.
local function notice(ready, noticed, thread)
  local id = redis.call('XADD', ready, '*', 'thread', thread)
  if redis.call('HSETNX', noticed, thread, id) == 0 then
    redis.call('XDEL', ready, id)
    local known = redis.call('HGET', noticed, thread)
    if known:sub(-1) ~= '+' then redis.call('HSET', noticed, thread, known .. '+') end
  end
  return id:match('^%d+')
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

-- expires tells whether the expiry of a key is to be set, beside what was last saved at a time
-- (ms, nil: never): once a day. Such keys last a day longer than they must.
local function expires(saved)
  return not saved or math.floor(saved / DAY) ~= math.floor(clock() / DAY)
end

-- saveSession writes a session {key, body, people, keep, lists, thread} (places in KEYS and
-- ARGV), and puts the thread into people's lists. It gives when, and who was in the session
-- before where that is not who is in it now.
local function saveSession(s, KEYS, ARGV)
  local now, people = clock(), ARGV[s.people]
  local old = redis.call('SET', KEYS[s.key], int(now) .. ' ' .. people .. '\n' .. ARGV[s.body], 'PX', s.keep, 'GET')
  local saved, before = string.match(old or '', '^(%d+) ?([^\n]*)\n')
  for _, list in ipairs(s.lists or {}) do
    redis.call('ZADD', KEYS[list], int(now), ARGV[s.thread])
    if before ~= people or expires(saved) then redis.call('PEXPIRE', KEYS[list], int(s.keep + DAY)) end
  end
  if before == people then before = '' end
  return int(now), before or ''
end

-- saveRecord writes a record {key, body, status, run, keep, runs, home, thread, all, lists} (places
-- in KEYS and ARGV, but for the status; lists by status), and puts it into lists of records.
local function saveRecord(r, KEYS, ARGV)
  local now, run = clock(), ARGV[r.run]
  local old = redis.call('SET', KEYS[r.key], r.status .. ' ' .. int(now) .. '\n' .. ARGV[r.body], 'PX', r.keep, 'GET')
  local status, saved = string.match(old or '', '^(%S*) (%d+)\n')
  redis.call('ZADD', KEYS[r.runs], int(now), run)
  if expires(saved) then
    redis.call('PEXPIRE', KEYS[r.runs], int(r.keep + DAY))
    if r.home then redis.call('SET', KEYS[r.home], ARGV[r.thread], 'PX', int(r.keep + 2 * DAY)) end
  end
  if not r.lists then return end
  redis.call('ZADD', KEYS[r.all], int(now), run)
  redis.call('ZADD', KEYS[r.lists[r.status]], int(now), run)
  if status and status ~= r.status and r.lists[status] then redis.call('ZREM', KEYS[r.lists[status]], run) end
end
