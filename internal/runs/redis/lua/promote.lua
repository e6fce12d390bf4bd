-- KEYS ready, due, noticed   Gives the ms until the next thread is due, -1 for none.
local now = clock()
for _, thread in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', int(now), 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[2], thread)
  notice(KEYS[1], KEYS[3], thread)
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if not first[2] then return -1 end
return math.max(0, first[2] - now)
