package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Sealer writes what browsers keep for us in cookies, so that they can neither read nor
// change it.
type Sealer struct{ cipher cipher.AEAD }

// NewSealer derives the key from what is configured: every replica has the same, restarts
// keep it, and a change of it ends all sessions. purpose tells sealers of the same
// configuration apart.
func NewSealer(purpose string, configured ...string) (*Sealer, error) {
	material, err := json.Marshal(configured)
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	key, err := hkdf.Key(sha256.New, material, nil, purpose, 32)
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
	return &Sealer{sealed}, nil
}

// maxSealed bounds the value of a cookie, in bytes.
const maxSealed = 4000

var errSealed = errors.New("the cookie was not sealed here")

// Seal gives a cookie's value, which opens under its name alone.
func (s *Sealer) Seal(name string, value any) (string, error) {
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

// Open reads into value what Seal gave.
func (s *Sealer) Open(name, sealed string, value any) error {
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
