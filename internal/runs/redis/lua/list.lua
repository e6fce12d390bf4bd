-- KEYS lists of records that it is in, then those that it is in no more
-- ARGV run, how many it is in, keep ('': they are cut elsewhere)
local now = clock()
for i, key in ipairs(KEYS) do
  if i > tonumber(ARGV[2]) then
    redis.call('ZREM', key, ARGV[1])
  else
    redis.call('ZADD', key, int(now), ARGV[1])
    if ARGV[3] ~= '' then
      redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. int(now - ARGV[3]))
      redis.call('PEXPIRE', key, ARGV[3])
    end
  end
end
return 1
