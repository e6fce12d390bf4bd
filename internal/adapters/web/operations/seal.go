package operations

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// sealer writes what browsers keep for us in cookies, so that they can neither read nor
// change it.
type sealer struct{ cipher cipher.AEAD }

// newSealer derives the key from how people sign in: every replica has the same, restarts
// keep it, and a change of the token, or of who is allowed, ends all sessions.
func newSealer(from SignIn) (*sealer, error) {
	allowed := slices.Sorted(slices.Values(from.Allowed))
	material, err := json.Marshal(append([]string{from.Token, from.Issuer, from.ClientID, from.ClientSecret}, allowed...))
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	key, err := hkdf.Key(sha256.New, material, nil, "cairn operations session", 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	sealed, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	return &sealer{sealed}, nil
}

// maxSealed bounds the value of a cookie, in bytes.
const maxSealed = 4000

var errSealed = errors.New("the cookie was not sealed here")

// seal gives a cookie's value, which opens under its name alone.
func (s *sealer) seal(name string, value any) (string, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("seal %s: %w", name, err)
	}
	sealed := base64.RawURLEncoding.EncodeToString(s.cipher.Seal(nil, nil, plain, []byte(name)))
	if len(sealed) > maxSealed {
		return "", fmt.Errorf("seal %s: %d bytes, a cookie holds %d", name, len(sealed), maxSealed)
	}
	return sealed, nil
}

// open reads into value what seal gave.
func (s *sealer) open(name, sealed string, value any) error {
	if len(sealed) > maxSealed {
		return errSealed
	}
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return errSealed
	}
	plain, err := s.cipher.Open(nil, nil, raw, []byte(name))
	if err != nil {
		return errSealed
	}
	if err := json.Unmarshal(plain, value); err != nil {
		return errSealed
	}
	return nil
}

// secret is a text that can't be guessed.
func secret() string { return rand.Text() }
