//go:build race

package bot_test

// stride is from one call that is struck to the next: the race detector makes stories take
// ten times as long, and what it looks for is the same at all of them.
const stride = 6
