package eval

import (
	_ "cairn/internal/knowledge/index" // want "eval knows neither index nor flows"
)
