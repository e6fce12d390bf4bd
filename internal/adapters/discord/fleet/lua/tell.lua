-- KEYS global, bucket, flight of the route, of the bucket known before, of the bucket
-- ARGV id, limit, remaining, reset by Discord's clock, reset after, retry after, global, invalid, window of those, how long to keep, how far apart
-- two resets of one window may be told, whether the place is free again
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local function int(n) return string.format('%.0f', n) end
local limit, remaining, epoch, after, retry = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

for i = 3, 5 do redis.call('ZREM', KEYS[i], ARGV[1]) end

if ARGV[8] == '1' then
  if tonumber(redis.call('HGET', KEYS[1], 'counted') or 0) <= now then
    redis.call('HSET', KEYS[1], 'invalid', '0', 'counted', int(now + ARGV[9]))
  end
  redis.call('HINCRBY', KEYS[1], 'invalid', 1)
end

if retry > 0 and ARGV[7] == '1' then
  redis.call('HSET', KEYS[1], 'blocked', int(now + retry))
elseif retry > 0 then
  redis.call('HSET', KEYS[2], 'blocked', int(now + retry))
end

if limit > 0 then
  local tolerance = tonumber(ARGV[11])
  local b = redis.call('HMGET', KEYS[2], 'remaining', 'reset', 'epoch')
  local known, open = tonumber(b[3] or 0), b[2]
  if epoch > known + tolerance then
    -- The first answer of a window. Where it had begun here, what was taken since counts.
    local left = remaining - redis.call('ZCARD', KEYS[5])
    if b[1] and not open then left = math.min(tonumber(b[1]), remaining) end
    redis.call('HSET', KEYS[2], 'limit', int(limit), 'remaining', int(left), 'reset', int(now + after), 'epoch', int(epoch), 'window', int(after))
  elseif open and epoch >= known - tolerance then
    redis.call('HSET', KEYS[2], 'limit', int(limit), 'remaining', int(math.min(tonumber(b[1]), remaining)))
  end
end
if ARGV[12] == '1' then
  local b = redis.call('HMGET', KEYS[2], 'limit', 'remaining')
  if b[1] then redis.call('HSET', KEYS[2], 'remaining', int(math.min(tonumber(b[1]), tonumber(b[2]) + 1))) end
end
if limit > 0 or retry > 0 then redis.call('PEXPIRE', KEYS[2], ARGV[10]) end
return 1
