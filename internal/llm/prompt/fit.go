package prompt

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/sentence"
	"github.com/cairn-bot/cairn/internal/llm"
)

// FitSentences gives as many whole sentences of a text, from its beginning, as have no more
// tokens than are left, and the tokens that they have.
func FitSentences(model llm.Model, text string, left int) (fits string, took int, whole bool) {
	if took = model.Tokens(text); took <= left {
		return text, took, true
	}
	end, sum := 0, 0
	for _, part := range sentence.Split(text) {
		tokens := model.Tokens(text[end:part.End])
		if sum+tokens > left {
			break
		}
		end, sum = part.End, sum+tokens
	}
	return strings.TrimSpace(text[:end]), sum, false
}
