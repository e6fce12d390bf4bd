-- KEYS state, jobs   ARGV who, event
local head = redis.call('LINDEX', KEYS[2], 0)
if not head then return 0 end
local known, job = pcall(cjson.decode, head:match('^%d+ (.*)$'))
if not known or job['event'] ~= ARGV[2] then return 0 end
if redis.call('HEXISTS', KEYS[1], 'stopat') == 0 then
  redis.call('HSET', KEYS[1], 'stopby', ARGV[1], 'stopat', int(clock()))
end
return 1
