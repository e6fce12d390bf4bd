-- KEYS jobs, dead   ARGV event   Gives 0 where there is no such dead letter.
local body = redis.call('HGET', KEYS[2], 'b:' .. ARGV[1])
if not body then return 0 end
redis.call('HDEL', KEYS[2], 'b:' .. ARGV[1], 'r:' .. ARGV[1])
body = body:sub(body:find(' ', 1, true) + 1)
redis.call('RPUSH', KEYS[1], int(clock()) .. ' ' .. body)
return 1
