//go:build !race

package buildcontext_test

// folderSize is how much text the folder of the large tests has, in bytes.
const folderSize = 5 << 20
