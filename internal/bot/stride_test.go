//go:build !race

package bot_test

// stride is from one call that is struck to the next.
const stride = 1
