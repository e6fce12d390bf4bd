-- KEYS state   ARGV key, token ('': it needs no lease), ttl   Removes a delivery from the outbox.
if ARGV[2] ~= '' and not held(KEYS[1], ARGV[2], ARGV[3]) then return LOST end
if redis.call('HDEL', KEYS[1], 'b:' .. ARGV[1]) == 1 then
  redis.call('HDEL', KEYS[1], 'p:' .. ARGV[1])
  if redis.call('HINCRBY', KEYS[1], 'outbox', -1) == 0 then redis.call('HDEL', KEYS[1], 'outbox') end
end
return 1
