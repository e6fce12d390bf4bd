-- KEYS, ARGV as header says, ARGV[1] (JSON)   Saves a session under no lease, see saveSession.
return {saveSession(cjson.decode(ARGV[1]), KEYS, ARGV)}
