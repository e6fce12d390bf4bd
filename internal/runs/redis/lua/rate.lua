-- KEYS record   ARGV who, rating ('' takes it back)   Gives 0 where there is no record.
if redis.call('HEXISTS', KEYS[1], 'body') == 0 then return 0 end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], 'r:' .. ARGV[1])
else
  redis.call('HSET', KEYS[1], 'r:' .. ARGV[1], ARGV[2])
end
return 1
