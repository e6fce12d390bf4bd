-- KEYS global, bucket, flight, route
-- ARGV id, exempt, limited, requests a second, invalid ones, how long one is under way, how long to wait for one,
-- the bucket that KEYS have, by its hash
-- Gives {0, ''} where a place was taken, {-1, hash} where the route has another bucket by
-- now, else {ms to wait, why}.
local t = redis.call('TIME')
local now, micros = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
local function int(n) return string.format('%.0f', n) end
local known = redis.call('GET', KEYS[4])
if known and known ~= ARGV[8] then return {-1, known} end
local exempt, limited, poll = ARGV[2] == '1', ARGV[3] == '1', tonumber(ARGV[7])

local g = redis.call('HMGET', KEYS[1], 'tat', 'blocked', 'invalid', 'counted')
if tonumber(g[4] or 0) > now and tonumber(g[3]) >= tonumber(ARGV[5]) then return {tonumber(g[4]) - now, 'invalid'} end
if not exempt and tonumber(g[2] or 0) > now then return {tonumber(g[2]) - now, 'global'} end

local left
if limited then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', int(now))
  local flying = redis.call('ZCARD', KEYS[3])
  local b = redis.call('HMGET', KEYS[2], 'limit', 'remaining', 'reset', 'blocked')
  if tonumber(b[4] or 0) > now then return {tonumber(b[4]) - now, 'bucket'} end
  if not b[1] then
    if flying > 0 then return {poll, 'probe'} end
  else
    local limit, reset = tonumber(b[1]), tonumber(b[3])
    left = tonumber(b[2])
    if reset and now >= reset then -- a window began whose end is not known yet
      left, reset = limit - flying, nil
      redis.call('HDEL', KEYS[2], 'reset')
      redis.call('HSET', KEYS[2], 'remaining', int(left))
    end
    if left <= 0 and reset then return {reset - now, 'bucket'} end
    if left <= 0 and flying > 0 then return {poll, 'bucket'} end
    if left <= 0 then left = limit end -- all answers of this window were lost
  end
end

-- A tenth of the requests of a second may come at once, and eight tenths evenly. What is
-- left over is for those that are slower on their way than the ones after them.
if not exempt then
  local rate = tonumber(ARGV[4])
  local burst = math.max(1, math.floor(rate / 10))
  local each = 1000000 / math.max(1, rate - 2 * burst)
  local tat = math.max(tonumber(g[1] or 0), micros)
  local early = tat - (burst - 1) * each - micros
  if early > 0 then return {math.ceil(early / 1000), 'global'} end
  redis.call('HSET', KEYS[1], 'tat', int(tat + each))
end

if limited then
  if left then redis.call('HSET', KEYS[2], 'remaining', int(left - 1)) end
  redis.call('ZADD', KEYS[3], int(now + ARGV[6]), ARGV[1])
  redis.call('PEXPIRE', KEYS[3], ARGV[6])
end
return {0, ''}
