package editor

import (
	_ "github.com/cairn-bot/cairn/internal/bot" // want "the page editor imports the web page, and pages"
	_ "github.com/cairn-bot/cairn/internal/pages"
)
