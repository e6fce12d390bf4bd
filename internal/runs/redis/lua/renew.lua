-- KEYS state, jobs   ARGV token, ttl   Gives {stopby, stopat, how many jobs there are}.
if not held(KEYS[1], ARGV[1], ARGV[2]) then return LOST end
local s = redis.call('HMGET', KEYS[1], 'stopby', 'stopat')
return {s[1] or '', s[2] or '', redis.call('LLEN', KEYS[2])}
