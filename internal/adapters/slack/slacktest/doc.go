// Package slacktest is a strict stand-in for Slack over real HTTP and WebSocket. It
// refuses what Slack refuses, by Slack's names for it, delivers events signed and
// retried as Slack does, over HTTP or Socket Mode, and records everything that is said,
// so that a test reads a conversation as people would see it.
//
// A test makes a Server, adds people and channels, points the app at APIURL and the
// server at the app (Subscribe, or Socket Mode), and then lets people talk:
//
//	world := slacktest.New(slacktest.Options{Clock: slacktest.NewManual(start)})
//	defer world.Close()
//	ann := world.Person("U0ANN", "Ann")
//	general := world.Channel("C0GENERAL", "general")
//	world.Subscribe(app.URL+"/slack/events", app.URL+"/slack/interactive", app.URL+"/slack/command")
//	ann.Says(general, "", "<@"+world.BotUser()+"> hello")
//	fmt.Print(world.Show(general))
//
// Where Slack's documentation is silent, the strict guess is taken and the comment at
// the limit says so. Lengths are counted in UTF-16 units, the greatest of the counts
// that "characters" may mean short of bytes.
package slacktest
