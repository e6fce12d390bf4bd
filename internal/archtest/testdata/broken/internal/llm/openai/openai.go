package openai

import (
	_ "github.com/sashabaranov/go-openai"
)
