-- KEYS due   ARGV thread, in how many ms it is to be looked at, at the latest
redis.call('ZADD', KEYS[1], 'LT', int(clock() + ARGV[2]), ARGV[1])
return 1
