//go:build race

package buildcontext_test

// folderSize is smaller with the race detector, which makes rules and token counts many
// times slower.
const folderSize = 1 << 20
