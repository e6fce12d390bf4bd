-- KEYS state   ARGV token, ttl   Gives {stopby, stopat, '1' if jobs wait behind}.
local s = redis.call('HMGET', KEYS[1], 'token', 'worker', 'stopby', 'stopat', 'behind')
if not s[2] or s[1] ~= ARGV[1] then return LOST end
redis.call('HSET', KEYS[1], 'until', int(clock() + ARGV[2]))
return {s[3] or '', s[4] or '', s[5] or ''}
