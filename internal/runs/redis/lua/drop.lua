-- KEYS state, outbox   ARGV token, ttl, key
if not held(KEYS[1], ARGV[1], ARGV[2]) then return LOST end
return redis.call('HDEL', KEYS[2], 'b:' .. ARGV[3], 'p:' .. ARGV[3])
