package eval

import (
	_ "github.com/cairn-bot/cairn/internal/knowledge/index" // want "eval knows neither index nor flows"
)
