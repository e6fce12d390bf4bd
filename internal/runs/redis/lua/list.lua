-- KEYS lists of records, all and one per status   ARGV run, place of the list that it is in besides the first, keep
local now = clock()
for i, key in ipairs(KEYS) do
  if i == 1 or i == tonumber(ARGV[2]) then
    redis.call('ZADD', key, int(now), ARGV[1])
    redis.call('PEXPIRE', key, ARGV[3])
  else
    redis.call('ZREM', key, ARGV[1])
  end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. int(now - ARGV[3]))
end
return 1
