-- KEYS state   ARGV token, ttl   Gives the state with the outbox, names and values in turn.
if not held(KEYS[1], ARGV[1], ARGV[2]) then return LOST end
return redis.call('HGETALL', KEYS[1])
