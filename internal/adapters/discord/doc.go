// Package discord lets a team ask Cairn in Discord. Events and interactions become signals
// in translate.go and interact.go, replies and questions become messages in render.go, write.go,
// markdown.go, escape.go, sources.go and buttons.go. All that is pure functions. What comes of a
// signal is decided in package interact below chat, for all platforms alike: dispatch.go and
// press.go hand it over, and surface.go and human.go show what comes of it. The rest speaks to
// Discord: the gateway's events come in by dispatch.go, interactions over HTTP by receive.go;
// respond.go gives the first answers to those. post.go, edit.go and whisper.go send, draft.go
// shows a run while it
// works, fetch.go reads files. application.go and commands.go say what the app is to
// Discord, diagnose.go finds out what is missing.
//
// # What a message is known by
//
// Every message of the bot's carries its delivery key, which part of a post it is, and the
// root of its conversation, in the first custom id of its buttons (mark.go). Discord keeps
// custom ids with the message for good, gives them back with the message's history, with
// every press and with every reply, and shows them to nobody. A nonce is forgotten within
// minutes, and an embed's footer or a link's fragment would be seen. A message that has no
// button to press gets one that can't be pressed and says what it is: "2 of 3", "Answered".
// The nonce, made from the same key, keeps two processes from posting the same at once.
//
// # Where conversations are held
//
// A mention in a channel is answered in a thread that is started from the message, with
// the message's id, or in place as a reply; place.go has the ids. An event and the kind of
// its channel are enough to make them, and the thread is started by whoever posts first in
// it: intake writes the message down and asks Discord for nothing that it knows already.
//
// # Answers to commands
//
// A command is answered at once by "Cairn is thinking". The right to write what comes in
// its place, a token that is good for 15 minutes, is kept as a Ticket for whichever process
// has the answer; past that the answer is an ordinary message, or for what one person alone
// was to see, a direct one. What is for one person alone is one message, with a file where
// it is long: Discord does not let it be found again otherwise.
//
// # When Discord is busy, or late
//
// Package fleet has what waits for a bucket stand in line; a call whose turn comes later than
// in a moment is left to the bot (turn.go). A draft whose message Discord may still change
// does not become the answer, and tidy.go takes away what came late. After an outage one look at
// the active threads of a server, or at the messages of a channel, tells of all conversations
// there (absence.go), and look-ups leave the limit on all requests to answers.
//
// # What can't be had
//
// Discord hides a message from the others only where it answers a command or a press: who
// answers somebody else's question in writing is told in the thread that it is not theirs; that
// an edit came too late is told in the direct conversation. A message that was
// deleted is told of by its id alone: a follow-up that replied in place is known to the
// process that heard it, and to no other.
package discord
