package llmtest

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strings"
	"unicode"
)

type embeddingReply struct {
	Object string      `json:"object"`
	Data   []embedding `json:"data"`
	Model  string      `json:"model"`
	Usage  usageCount  `json:"usage"`
}

type embedding struct {
	Object    string    `json:"object"`
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	request, ok := s.receive(w, r, parseEmbedding)
	if !ok {
		return
	}
	step, ok := s.next(request)
	for ok && step.by != nil {
		step = step.by(request)
	}
	switch {
	case step.failure != nil:
		step.fail(w)
		return
	case step.ending != complete:
		if step.ending != cuts {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	}
	dimension := Dimension
	if request.Dimensions > 0 {
		dimension = request.Dimensions
	}
	if step.dimension > 0 {
		dimension = step.dimension
	}
	answer := embeddingReply{Object: "list", Model: request.Model}
	for i, text := range request.Input {
		answer.Usage.Prompt += len(strings.Fields(text))
		if i >= step.missing {
			answer.Data = append(answer.Data, embedding{"embedding", i, vector(text, dimension)})
		}
	}
	answer.Usage.Total = answer.Usage.Prompt
	data, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(data); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// vector counts the words of a text by their hashes. It is of another length than 1, as
// some servers' vectors are.
func vector(text string, dimension int) []float32 {
	components := make([]float32, dimension)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, word := range append(words, "") {
		hash := fnv.New32a()
		if _, err := hash.Write([]byte(word)); err != nil {
			panic(err)
		}
		components[hash.Sum32()%uint32(dimension)]++
	}
	return components
}
