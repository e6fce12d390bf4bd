-- KEYS  state, jobs, delayed, events, ended, dead, then those that the header names by their place
-- ARGV  the header c (JSON, see header in commit.go), then the texts that it names by their place
-- Writes what a worker changes under its lease, all of it, and renews or ends the lease. Whatever refuses the
-- commit comes before the first write: also a later commit under the same lease, since what comes behind it was given up, and
-- delayed on its way. The first write of one that ends the lease removes something: so a full Redis lets it
-- go on, and work drains; that of others is refused there.
-- Gives {'done', when, who was in the session before, the delivery, its id on the platform, what upcoming gives…}, or
-- {'disturbed', stopby, stopat, '1' if jobs wait behind}.
local c = cjson.decode(ARGV[1])
local state, jobs, delayed, events, ended, dead = unpack(KEYS, 1, 6)
local result = c.result
local now, micros = clock()
local delivery, confirmed = c.delivery and ARGV[c.delivery.key], c.confirmed and ARGV[c.confirmed.key]

local names = {'token', 'worker', 'batch', 'number', 'ended', 'stopby', 'stopat', 'behind', 'outbox'}
if delivery then names[#names + 1], names[#names + 2] = 'b:' .. delivery, 'p:' .. delivery end
if confirmed then names[#names + 1] = 'b:' .. confirmed end
local s = {}
for i, value in ipairs(redis.call('HMGET', state, unpack(names))) do s[names[i]] = value end

-- finish settles the notice of a lease that has ended, where ready is on the same server.
local function reply(saved, before, next)
  if next and c.wake then
    settle(KEYS[c.wake], KEYS[c.wake + 1], KEYS[c.wake + 2], ARGV[c.thread], c.group, ARGV[c.notice], next[1], next[2])
  end
  next = next or {'', 0}
  local stored = delivery and s['b:' .. delivery] or ''
  return {'done', saved or '', before or '', stored, delivery and s['p:' .. delivery] or '', next[1], int(next[2])}
end

local mine = c.token .. ' ' .. c.call
if not s.worker or s.token ~= c.token then
  if result and (s.ended or redis.call('GET', ended)) == mine then -- the answer to the same call was lost
    return reply(nil, nil, (upcoming(state, jobs, delayed, now)))
  end
  return LOST
end
if s.batch == c.call then return reply() end -- and here, too
if tonumber(s.number or 0) >= c.number then return redis.error_reply('LATE a later commit was made under this lease') end
if c.unlessstopped and s.stopat or c.unlessbehind and s.behind then
  return {'disturbed', s.stopby or '', s.stopat or '', s.behind or ''}
end
if confirmed and not s['b:' .. confirmed] then return redis.error_reply('UNKNOWN no such delivery is recorded') end

local over = result and (result.next == 'finished' or result.next == 'dead') -- the job is
local head
if over then
  head = redis.call('LPOP', jobs)
elseif result then
  redis.call('HDEL', state, 'call')
end

local fields, gone = {}, {}
local function set(name, value) fields[#fields + 1], fields[#fields + 2] = name, value end
local function unset(name) gone[#gone + 1] = name end

local open = tonumber(s.outbox or 0)
if delivery and not s['b:' .. delivery] then
  s['b:' .. delivery] = int(micros) .. ' ' .. int(now) .. ' ' .. ARGV[c.delivery.body]
  set('b:' .. delivery, s['b:' .. delivery])
  open = open + 1
  set('outbox', int(open))
end
if confirmed and (not result or result.next == 'released') then set('p:' .. confirmed, ARGV[c.confirmed.posted]) end
if not result then
  set('until', int(now + c.ttl))
  set('batch', c.call)
  set('number', int(c.number))
  redis.call('HSET', state, unpack(fields))
end

if c.checkpoint then redis.call('SET', KEYS[c.checkpoint.key], ARGV[c.checkpoint.body], 'PX', c.keep) end
for _, record in ipairs(c.records or {}) do saveRecord(record, KEYS, ARGV) end
local saved, before
if c.session then saved, before = saveSession(c.session, KEYS, ARGV) end

local first = 1 + (s.batch and c.unsure and c.unsure[s.batch] or 0) -- of the events that are not there yet
local last
for i = first, #(c.events or {}) do
  local event = c.events[i]
  last = redis.call('XADD', events, 'MAXLEN', '~', c.kept, '*', 'r', ARGV[event[1]], 'k', ARGV[event[2]], 'b', ARGV[event[3]])
end
if last then redis.call('PUBLISH', ARGV[c.channel], last) end
if not result then return reply(saved, before) end

-- The lease ends. What was confirmed is forgotten, unless the lease is only released.
redis.call('PEXPIRE', events, c.eventsfor)
if result.over then redis.call('DEL', KEYS[result.over]) end
if result.next == 'dead' and head then
  local event = ARGV[result.event]
  redis.call('HSET', dead, 'b:' .. event, head, 'r:' .. event, int(now) .. ' ' .. ARGV[result.reason])
  redis.call('PEXPIRE', dead, c.keep)
end
if result.next ~= 'released' and open > 0 then
  local posted = {}
  if confirmed then posted[confirmed] = true end
  if open > 1 or not confirmed then
    for _, name in ipairs(redis.call('HKEYS', state)) do
      if name:sub(1, 2) == 'p:' then posted[name:sub(3)] = true end
    end
  end
  for key in pairs(posted) do
    unset('b:' .. key)
    unset('p:' .. key)
    open = open - 1
  end
end

-- forget leaves of the state no more than which call ended the lease.
local function forget()
  redis.call('DEL', state)
  redis.call('SET', ended, mine, 'PX', 60000)
end

if over and open == 0 and redis.call('EXISTS', jobs, delayed) == 0 then
  forget()
  return reply(saved, before, {'none', 0})
end
for _, name in ipairs({'worker', 'until', 'notice', 'call', 'batch', 'number', 'behind'}) do unset(name) end
if over then
  for _, name in ipairs({'attempt', 'notbefore', 'reason', 'stopby', 'stopat', 'unsure'}) do unset(name) end
elseif result.doubt == 'sure' then
  unset('unsure')
elseif result.doubt ~= 'before' then
  set('unsure', int(now))
end
if open == 0 then unset('outbox') else set('outbox', int(open)) end
if result.next == 'again' or result.next == 'left' then
  set('notbefore', int(now + result.after))
  set('reason', ARGV[result.reason])
end
set('ended', mine)
redis.call('HDEL', state, unpack(gone))
redis.call('HSET', state, unpack(fields))
if result.next == 'left' or result.next == 'released' then redis.call('HINCRBY', state, 'attempt', -1) end
local next, queued = upcoming(state, jobs, delayed, now)
if queued == 0 and open == 0 then
  forget()
elseif queued == 0 then
  redis.call('PEXPIRE', state, c.keep)
end
return reply(saved, before, next)
