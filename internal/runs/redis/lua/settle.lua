-- KEYS ready, due, noticed   ARGV thread, group, id of its notice, what comes next, in how many ms
local dirty = redis.call('HGET', KEYS[3], ARGV[1]) == '2'
redis.call('XACK', KEYS[1], ARGV[2], ARGV[3])
redis.call('XDEL', KEYS[1], ARGV[3])
redis.call('HDEL', KEYS[3], ARGV[1])
if ARGV[4] == 'later' then
  redis.call('ZADD', KEYS[2], 'LT', int(clock() + ARGV[5]), ARGV[1])
end
if ARGV[4] == 'again' or dirty then notice(KEYS[1], KEYS[3], ARGV[1]) end
return 1
