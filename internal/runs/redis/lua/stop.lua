-- KEYS state, jobs   ARGV who
if redis.call('LLEN', KEYS[2]) == 0 then return 0 end
if redis.call('HEXISTS', KEYS[1], 'stopat') == 0 then
  redis.call('PERSIST', KEYS[1])
  redis.call('HSET', KEYS[1], 'stopby', ARGV[1], 'stopat', int(clock()))
end
return 1
