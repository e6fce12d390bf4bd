package editor

import (
	_ "cairn/internal/bot" // want "the page editor imports the web page, and pages"
	_ "cairn/internal/pages"
)
