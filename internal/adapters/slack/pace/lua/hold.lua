-- KEYS lane   ARGV every (µs), burst, wait (ms)
local t = redis.call('TIME')
local micros = t[1] * 1000000 + t[2]
local till = micros + ARGV[3] * 1000 + ARGV[1] * (ARGV[2] - 1) -- and then one by one
if till > tonumber(redis.call('GET', KEYS[1]) or 0) then
  redis.call('SET', KEYS[1], string.format('%.0f', till), 'PX', string.format('%.0f', math.ceil((till - micros) / 1000) + 1000))
end
return 1
