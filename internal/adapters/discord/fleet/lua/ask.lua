-- KEYS global, bucket, flight, route, line, line's ends
-- ARGV id, exempt, limited, requests a second, invalid ones, how long one is under way, how long to wait for one,
-- the bucket that KEYS have, by its hash, key of the turn ('' for none), its order, how long a place in line is kept,
-- '1' for one that leaves the limit on all to others
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

-- How many stand in line before this one, which joins it; only what takes a place leaves it.
local ahead, turn, grace = 0, ARGV[9], tonumber(ARGV[11])
if limited then
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[6], '-inf', int(now))) do
    redis.call('ZREM', KEYS[5], gone)
    redis.call('ZREM', KEYS[6], gone)
  end
  if turn == '' then
    ahead = redis.call('ZCARD', KEYS[5])
  else
    redis.call('ZADD', KEYS[5], ARGV[10], turn)
    ahead = redis.call('ZRANK', KEYS[5], turn)
  end
end
local function leaveLine()
  redis.call('ZREM', KEYS[5], turn)
  redis.call('ZREM', KEYS[6], turn)
end
local function standInLine(wait, why, limit, window)
  if limit > 0 and ahead >= limit then wait = wait + math.floor(ahead / limit) * window end
  if turn ~= '' then
    redis.call('ZADD', KEYS[6], int(now + wait + grace), turn)
    for i = 5, 6 do
      redis.call('PEXPIRE', KEYS[i], math.max(redis.call('PTTL', KEYS[i]), wait + grace))
    end
  end
  return {wait, why}
end

local left
if limited then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', int(now))
  local flying = redis.call('ZCARD', KEYS[3])
  local b = redis.call('HMGET', KEYS[2], 'limit', 'remaining', 'reset', 'blocked', 'window')
  local limit, window = tonumber(b[1] or 0), tonumber(b[5] or 0)
  if tonumber(b[4] or 0) > now then return standInLine(tonumber(b[4]) - now, 'bucket', limit, window) end
  if limit == 0 then
    if flying > 0 or ahead > 0 then return standInLine(poll, 'probe', 0, 0) end
  else
    local reset = tonumber(b[3])
    left = tonumber(b[2])
    if reset and now >= reset then -- a window began whose end is not known yet
      left, reset = limit - flying, nil
      redis.call('HDEL', KEYS[2], 'reset')
      redis.call('HSET', KEYS[2], 'remaining', int(left))
    end
    if left <= 0 and reset then return standInLine(reset - now, 'bucket', limit, window) end
    if left <= 0 and flying > 0 then return standInLine(poll, 'bucket', limit, window) end
    if left <= 0 then left = limit end -- all answers of this window were lost
    if ahead >= left then -- those before this one have the places that are left
      ahead = ahead - left
      if reset then return standInLine(reset - now, 'bucket', limit, window) end
      return standInLine(poll, 'bucket', 0, 0)
    end
  end
end

-- A tenth of the requests of a second may come at once, and eight tenths evenly. What is
-- left over is for those that are slower on their way than the ones after them. A request that
-- is behind goes alone, once no place of the tenth is taken.
if not exempt then
  local rate = tonumber(ARGV[4])
  local burst = math.max(1, math.floor(rate / 10))
  local each = 1000000 / math.max(1, rate - 2 * burst)
  local tat = math.max(tonumber(g[1] or 0), micros)
  local free = (burst - 1) * each
  if ARGV[12] == '1' then free = 0 end
  local early = tat - free - micros
  if early > 0 then
    if limited then return standInLine(math.ceil(early / 1000), 'global', 0, 0) end
    return {math.ceil(early / 1000), 'global'}
  end
  redis.call('HSET', KEYS[1], 'tat', int(tat + each))
end

if limited then
  if turn ~= '' then leaveLine() end
  if left then redis.call('HSET', KEYS[2], 'remaining', int(left - 1)) end
  redis.call('ZADD', KEYS[3], int(now + ARGV[6]), ARGV[1])
  redis.call('PEXPIRE', KEYS[3], ARGV[6])
end
return {0, ''}
