-- KEYS, ARGV as header says, ARGV[1] (JSON)   Saves a record under no lease, see saveRecord.
saveRecord(cjson.decode(ARGV[1]), KEYS, ARGV)
return 1
