/*
Package gateway receives what happens in Discord: a [Client] holds the WebSocket
connections of its shards, and hands every event over until it was dealt with.

# Why not the connection of discordgo

discordgo resumes at the address of the first connection instead of at
resume_gateway_url, identifies again on the same connection after op 9 whatever its d
says, beats at once instead of after a random part of the interval, and moves its
sequence when an event arrives, not when it was dealt with: what was on its way when a
process dies is lost. None of that can be changed from outside, as its loops are
unexported. So the protocol is spoken here, over gorilla/websocket, which discordgo
itself and this program use already; discordgo stays what decodes events and calls the
REST API.

# What is promised

An event is handed over at least once, and those of a channel in their order, while one
replica after the other may die. The number of the last event, of which all before it
were dealt with too, is kept in [Shards]. Heartbeats tell Discord the number that is kept
and no later one, and a successor resumes with it: Discord replays the rest. What it
replays within one process is handed over once.

What can't be promised: Discord forgets a session some minutes after its connection
ended, and when it says so (op 9 with false) the events in between are gone. The first
identify of a process that dies before it wrote down the id of its session is lost
likewise.

# Who runs what

client.go shares shards with other replicas, shard.go keeps one shard connected,
connection.go is one WebSocket from its hello to its end, queue.go hands events over in
the order of their channels, window.go knows which are dealt with, frame.go reads what
Discord sends.
*/
package gateway
