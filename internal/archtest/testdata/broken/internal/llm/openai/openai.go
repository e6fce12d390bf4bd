package openai

import (
	_ "text/template" // want "no templates of the standard library"

	_ "github.com/sashabaranov/go-openai"
)
