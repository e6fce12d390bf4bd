-- KEYS state, outbox   ARGV token, ttl, key, platform's id   Gives 0 for a key that is not there.
if not held(KEYS[1], ARGV[1], ARGV[2]) then return LOST end
if redis.call('HEXISTS', KEYS[2], 'b:' .. ARGV[3]) == 0 then return 0 end
redis.call('HSET', KEYS[2], 'p:' .. ARGV[3], ARGV[4])
return 1
