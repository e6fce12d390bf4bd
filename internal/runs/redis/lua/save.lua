-- KEYS record   ARGV fence ('0': not checked), body, keep
local fence = tonumber(redis.call('HGET', KEYS[1], 'fence') or 0)
local mine = tonumber(ARGV[1])
if mine > 0 and mine < fence then return LOST end
if mine > fence then
  redis.call('HSET', KEYS[1], 'body', ARGV[2], 'fence', ARGV[1])
else
  redis.call('HSET', KEYS[1], 'body', ARGV[2])
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
