// Package docs carries Cairn's own documentation, which the demo answers from.
package docs

import "embed"

// Files is every page, by its name in this folder.
//
//go:embed *.md
var Files embed.FS
