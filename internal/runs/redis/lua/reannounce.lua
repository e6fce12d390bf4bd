-- KEYS ready, due, noticed   ARGV thread
redis.call('HSET', KEYS[3], ARGV[1], redis.call('XADD', KEYS[1], '*', 'thread', ARGV[1]))
return 1
