package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	wire "github.com/sashabaranov/go-openai"
)

// chatForm is a chat request as it goes over the wire: the client's, but for the temperature,
// of which the client leaves out a zero.
type chatForm struct {
	wire.ChatCompletionRequest
	Temperature *float64 `json:"temperature,omitempty"`
}

// replaceBody puts a form in the place of what the client has written.
func (f *chatForm) replaceBody(request *http.Request) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	request.ContentLength = int64(len(data))
	request.Body, err = request.GetBody()
	return err
}
