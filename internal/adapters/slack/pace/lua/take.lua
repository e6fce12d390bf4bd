-- KEYS lane, order, due, back   ARGV every (µs), burst, spare, caller, order (µs), absent, soon, longest away, poll (ms), most that are counted
-- Gives 0 where the turn is taken, else in how many ms to ask again.
local t = redis.call('TIME')
local micros = t[1] * 1000000 + t[2]
local now = math.floor(micros / 1000)
local function int(n) return string.format('%.0f', n) end
local every, caller, order = tonumber(ARGV[1]), ARGV[4], tonumber(ARGV[5])

local function leave(who)
  for i = 2, 4 do redis.call('ZREM', KEYS[i], who) end
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', '(' .. int(now - ARGV[6]), 'LIMIT', 0, 100)) do leave(gone) end

local next = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), micros)
local free = next - every * (ARGV[2] - 1 - ARGV[3])
local before = caller == '' and '+inf' or int(order)
local ahead, soon = 0, false
local line = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', before, 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[10]))
for i = 1, #line, 2 do
  local first = caller == '' or tonumber(line[i + 1]) < order or line[i] < caller
  if first then
    ahead = ahead + 1
    soon = soon or tonumber(redis.call('ZSCORE', KEYS[3], line[i]) or 0) <= now + ARGV[7]
  end
end

if not soon and free <= micros then
  if caller ~= '' then leave(caller) end
  redis.call('SET', KEYS[1], int(next + every), 'PX', int(math.ceil((next + every - micros) / 1000) + 1000))
  return 0
end
local wait = math.max(tonumber(ARGV[9]), math.ceil((free + every * ahead - micros) / 1000))
if caller ~= '' then
  redis.call('ZADD', KEYS[2], int(order), caller)
  redis.call('ZADD', KEYS[3], int(now + wait), caller)
  redis.call('ZADD', KEYS[4], int(now + math.min(wait, tonumber(ARGV[8]))), caller)
  for i = 2, 4 do redis.call('PEXPIRE', KEYS[i], 60000) end
end
return wait
