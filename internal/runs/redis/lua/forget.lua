-- KEYS state, jobs   ARGV job as it is stored   Removes it from the queue unless a worker has it.
if redis.call('LINDEX', KEYS[2], 0) == ARGV[1] then
  if redis.call('HEXISTS', KEYS[1], 'worker') == 1 then return 0 end
  redis.call('HDEL', KEYS[1], 'attempt', 'notbefore', 'reason', 'stopby', 'stopat', 'unsure')
end
return redis.call('LREM', KEYS[2], 1, ARGV[1])
