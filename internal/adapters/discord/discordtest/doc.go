// Package discordtest is a strict stand-in for Discord over real HTTP. It checks every
// body against Discord's own description of its API and against the limits which that
// lacks, refuses what Discord refuses by Discord's numbers, produces the gateway's events,
// makes people's interactions, signed with a real key where they go to an endpoint, and
// records everything that is said, so that a test reads a conversation as people see it.
//
// A test makes a Server, furnishes it, gives the app Client and Token, and lets people
// talk:
//
//	world := discordtest.New(t, discordtest.Options{Now: clock.Now})
//	team := world.Guild("Team")
//	ann, general := team.Member("Ann"), team.Channel("general")
//	world.Say(ann, general, "<@"+discordtest.Bot+"> hello")
//	fmt.Print(world.Show(general))
//
// The app connects to the server's own gateway, see gatewaytest, whose address GET
// /gateway/bot gives; Events has what happened whether somebody is connected or not. A
// test that moves the clock by hand wants NoLimits, or limits of its own: on a clock that
// stands, nothing that was used up comes back.
//
// It knows no stickers, polls, voice, webhooks but those of interactions, nor lists of
// members, and of commands the overwriting of all of them alone. Guilds and the
// application are told with those fields only that an app like ours reads.
//
// Where Discord's documentation is silent, the strict guess is taken and the comment at
// the limit says so. Lengths that the description doesn't check are counted in UTF-16
// units, the greatest of the counts that "characters" may mean short of bytes.
package discordtest
