-- KEYS ready, due, noticed   ARGV thread
redis.call('ZREM', KEYS[2], ARGV[1])
notice(KEYS[1], KEYS[3], ARGV[1])
return 1
