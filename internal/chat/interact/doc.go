// Package interact is what all platforms have in common of what people do with the bot: when
// a message is for it (listen.go, hear.go), who may ask (admit.go), which buttons stand under
// an answer (controls.go), and what comes of a press (press.go), of a reaction (react.go), of a call for a person's
// help (help.go), of a command of who manages a place (manage.go) and of a look at a home
// page (home.go).
//
// An adapter translates. It makes an Incoming or a Press of what its platform tells, and shows
// what a Controller says by the small interfaces Teller, Surface and Board. What a platform
// can't do, its methods leave out: a Surface whose platform shows that a thumb was pressed
// says nothing in Confirm.
package interact
