-- KEYS shards   ARGV number, replica, token, session, 'keep' or 'release'
-- Gives 1, or 0 where the lease is another's.
local held = redis.call('HMGET', KEYS[1], ARGV[1] .. ':owner', ARGV[1] .. ':token')
if held[1] ~= ARGV[2] or held[2] ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1] .. ':session', ARGV[4])
if ARGV[5] == 'release' then redis.call('HDEL', KEYS[1], ARGV[1] .. ':owner', ARGV[1] .. ':until') end
return 1
