-- KEYS state, outbox   ARGV token, ttl, key, body, keep   Gives {stored, posted}.
local now = clock()
if not held(KEYS[1], ARGV[1], ARGV[2], now) then return LOST end
if redis.call('HEXISTS', KEYS[2], 'b:' .. ARGV[3]) == 0 then
  local n = redis.call('HINCRBY', KEYS[2], 'n', 1)
  redis.call('HSET', KEYS[2], 'b:' .. ARGV[3], int(n) .. ' ' .. int(now) .. ' ' .. ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
local s = redis.call('HMGET', KEYS[2], 'b:' .. ARGV[3], 'p:' .. ARGV[3])
return {s[1], s[2] or ''}
