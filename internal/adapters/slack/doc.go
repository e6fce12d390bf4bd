// Package slack lets a team ask Cairn in Slack. Events and interactions become signals
// in translate.go and interact.go, replies and questions become blocks in render.go,
// richtext.go, sources.go and buttons.go. All that is pure functions. What comes of a signal is
// decided in package interact below chat, for all platforms alike: dispatch.go hands it over,
// and surface.go and human.go show what comes of it. The rest speaks to Slack: receive.go over
// HTTP, socket.go
// by Socket Mode, post.go and edit.go send, at
// the pace that pace.go keeps, draft.go shows an answer while it is made, sweep.go takes
// away what a dead worker left of that and what Slack did late, absence.go tells for many
// threads at once that nothing was posted, and fetch.go reads files.
//
// Where the app is installed is told by Single, for one workspace by its token, or by
// Many (many.go, oauth.go), for workspaces that install it themselves. manifest.go says
// what the app asks Slack for, and diagnose.go finds out what is missing.
//
// What an answer says is shown as rich text, never as mrkdwn: text in it is only ever
// text, so that no document can call people, and nothing needs to be escaped.
//
// A post that one message can't hold is several, each with the delivery key in its
// metadata and which part it is; past that the answer is a file whose name has the key.
// So any process finds what is there, and completes what is not.
package slack
