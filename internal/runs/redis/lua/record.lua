-- KEYS state, outbox   ARGV token, ttl, key, body, keep   Gives {stored, posted}.
if not held(KEYS[1], ARGV[1], ARGV[2]) then return LOST end
local body = 'b:' .. ARGV[3]
local s = redis.call('HMGET', KEYS[2], body, 'p:' .. ARGV[3], 'n')
if s[1] then return {s[1], s[2] or ''} end
local n = int((tonumber(s[3]) or 0) + 1)
local stored = n .. ' ' .. int(clock()) .. ' ' .. ARGV[4]
redis.call('HSET', KEYS[2], body, stored, 'n', n)
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return {stored, ''}
