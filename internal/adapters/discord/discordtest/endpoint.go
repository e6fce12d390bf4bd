package discordtest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// PublicKey returns the app's key as its page in Discord shows it.
func (s *Server) PublicKey() string { return hex.EncodeToString(s.public) }

// Sign returns the headers of a signed delivery of now.
func (s *Server) Sign(body []byte) http.Header {
	timestamp := strconv.FormatInt(s.now().Unix(), 10)
	signature := ed25519.Sign(s.private, append([]byte(timestamp), body...))
	header := http.Header{}
	header.Set("X-Signature-Timestamp", timestamp)
	header.Set("X-Signature-Ed25519", hex.EncodeToString(signature))
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "Discord-Interactions/1.0 (+https://discord.com)")
	return header
}

// Endpoint has interactions go to the app's own address from now on, after the tests that
// Discord makes: a PING must be answered by one, a wrong signature by 401.
func (s *Server) Endpoint(address string) error {
	ping := mustJSON(wireInteraction{ID: "1", ApplicationID: AppID, Type: kindPing, Token: "ping", Version: 1, Entitlements: []struct{}{}, Owners: map[string]string{}})
	forged := s.Sign(append([]byte("forged"), ping...))
	status, _, err := s.sendDelivery(address, ping, forged)
	if err != nil {
		return fmt.Errorf("a ping with a wrong signature: %w", err)
	}
	if status != http.StatusUnauthorized {
		return fmt.Errorf("a ping with a wrong signature was answered by %d, want 401", status)
	}
	status, answered, err := s.sendDelivery(address, ping, s.Sign(ping))
	if err != nil {
		return fmt.Errorf("a ping: %w", err)
	}
	if refused := checkSchema("PongInteractionCallbackRequest", answered.body); status != http.StatusOK || refused != nil {
		return fmt.Errorf("a ping was answered by %d %s, want 200 {\"type\":1}", status, answered.body)
	}
	s.mu.Lock()
	s.endpoint = address
	s.mu.Unlock()
	return nil
}

// sendDelivery posts a delivery and gives the answer, taken apart as a request would be. People
// press buttons without a context: how long it may take is the server's to say.
func (s *Server) sendDelivery(address string, body []byte, header http.Header) (status int, answered *request, err error) {
	posting, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	posting.Header = header
	client := &http.Client{Transport: s.http.Client().Transport, Timeout: s.options.AnswerWithin}
	response, err := client.Do(posting)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	answered = &request{Request: &http.Request{Header: response.Header, Body: response.Body, URL: posting.URL, Method: http.MethodPost}}
	if response.StatusCode != http.StatusOK {
		_, err := io.Copy(io.Discard, response.Body)
		return response.StatusCode, answered, err
	}
	if refused := answered.readBody(); refused != nil {
		return response.StatusCode, answered, errors.New(string(mustJSON(refused)))
	}
	return response.StatusCode, answered, nil
}

// deliverHTTP posts an interaction to the endpoint and carries out what it answers.
func (s *Server) deliverHTTP(endpoint string, is *Interaction) {
	status, answered, err := s.sendDelivery(endpoint, is.Payload, s.Sign(is.Payload))
	problem := ""
	switch {
	case err != nil:
		problem = err.Error()
	case status == http.StatusAccepted: // the answer came, or will come, by the API
	case status != http.StatusOK:
		problem = fmt.Sprintf("the endpoint answered %d", status)
	default:
		s.mu.Lock()
		if _, refused := s.answerCallback(is, answered); refused != nil {
			problem = string(mustJSON(refused))
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	is.problem = problem
	s.signalChange()
	s.mu.Unlock()
	s.handOver()
}

// Redeliver posts an interaction's payload to the endpoint once more, signed anew or with
// the headers given, and gives the status. What is answered is not carried out.
func (s *Server) Redeliver(address string, payload json.RawMessage, header http.Header) (int, error) {
	if header == nil {
		header = s.Sign(payload)
	}
	status, _, err := s.sendDelivery(address, payload, header)
	return status, err
}
