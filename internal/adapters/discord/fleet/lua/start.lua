-- KEYS starts   ARGV bucket, window, what Discord says is left, in how many ms that is reset
-- Gives 0 where a place was taken, else how many ms to wait.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local function int(n) return string.format('%.0f', n) end
local day = 24 * 3600 * 1000
local told, after = tonumber(ARGV[3]), tonumber(ARGV[4])
local s = redis.call('HMGET', KEYS[1], 'left', 'reset', ARGV[1] .. ':next')
local left, reset = tonumber(s[1] or 0), tonumber(s[2] or 0)
-- What Discord says may be older than what others took since, and is newer where it was
-- reset at another time than was known.
if now >= reset or now + after > reset + 60000 then
  left, reset = told, now + (after > 0 and after or day)
else
  left = math.min(left, told)
end
redis.call('HSET', KEYS[1], 'left', int(left), 'reset', int(reset))
redis.call('PEXPIRE', KEYS[1], int(2 * day))
if left <= 0 then return math.max(1, reset - now) end
local next = tonumber(s[3] or 0)
if next > now then return next - now end
redis.call('HSET', KEYS[1], 'left', int(left - 1), ARGV[1] .. ':next', int(now + ARGV[2]))
return 0
