-- KEYS ready, due, noticed   ARGV thread, group, id of its notice, what comes next, in how many ms
settle(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
return 1
