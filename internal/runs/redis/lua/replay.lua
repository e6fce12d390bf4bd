-- KEYS jobs, dead, state   ARGV event   Gives 0 where there is no such dead letter.
local body = redis.call('HGET', KEYS[2], 'b:' .. ARGV[1])
if not body then return 0 end
redis.call('HDEL', KEYS[2], 'b:' .. ARGV[1], 'r:' .. ARGV[1])
body = body:sub(body:find(' ', 1, true) + 1)
push(KEYS[1], KEYS[3], int(clock()) .. ' ' .. body)
return 1
