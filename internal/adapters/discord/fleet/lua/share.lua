-- KEYS shards, members   ARGV replica, how many shards, ttl
-- Gives {count, quota, number, token, session, number, …} with the replica's leases.
local t = redis.call('TIME')
local now, micros = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
local function int(n) return string.format('%.0f', n) end
local replica, wanted, ttl = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', int(now))
redis.call('ZADD', KEYS[2], int(now + ttl), replica)
local count = tonumber(redis.call('HGET', KEYS[1], 'count') or 0)

local function lease(i) return redis.call('HMGET', KEYS[1], i .. ':owner', i .. ':until', i .. ':token', i .. ':session') end
local function free(l) return not l[1] or tonumber(l[2]) <= now end

if count ~= wanted then
  local idle = true
  for i = 0, count - 1 do idle = idle and free(lease(i)) end
  if idle then -- another number of shards: no session of the old ones can be resumed
    local token = redis.call('HGET', KEYS[1], 'token')
    redis.call('DEL', KEYS[1])
    redis.call('HSET', KEYS[1], 'count', int(wanted), 'token', token or '0')
    count = wanted
  end
end

local quota = math.ceil(count / redis.call('ZCARD', KEYS[2]))
local own, result = 0, {int(count), int(quota)}
for i = 0, count - 1 do
  if lease(i)[1] == replica then
    own = own + 1
    redis.call('HSET', KEYS[1], i .. ':until', int(now + ttl))
  end
end
for i = 0, count - 1 do
  local l = lease(i)
  if own < quota and free(l) then
    local token = math.max(tonumber(redis.call('HGET', KEYS[1], 'token') or 0) + 1, micros)
    redis.call('HSET', KEYS[1], 'token', int(token), i .. ':owner', replica, i .. ':until', int(now + ttl), i .. ':token', int(token))
    own = own + 1
    l = lease(i)
  end
  if l[1] == replica then
    result[#result + 1] = int(i)
    result[#result + 1] = l[3]
    result[#result + 1] = l[4] or ''
  end
end
return result
