package slack

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// InstallID is the id of a workspace (T…) that the app is installed in, or of an
// enterprise (E…) that it is installed for as a whole.
type InstallID string

// ErrNotInstalled is the error for a workspace that the app is not installed in.
var ErrNotInstalled = errors.New("the app is not installed there")

// Installs keeps the installs of an app that many workspaces have, for all processes. What
// it keeps is sealed: it sees no token. Its methods may be called concurrently.
type Installs interface {
	// Load gives what was saved last, ErrNotInstalled where nothing is.
	Load(ctx context.Context, id InstallID) (sealed []byte, err error)
	// Save keeps an install in the place of what was there.
	Save(ctx context.Context, id InstallID, sealed []byte) error
	// Delete ends an install; one that is not there is no error.
	Delete(ctx context.Context, id InstallID) error
	// Lock gives an install to one caller in all processes, until unlock is called or limit
	// has passed. Where somebody else has it, held is false and unlock nil. To unlock what
	// has passed to somebody else does nothing.
	Lock(ctx context.Context, id InstallID, limit time.Duration) (held bool, unlock func(context.Context) error, err error)
}

// install is one install as it is stored, in JSON, sealed. A workspace of an enterprise
// that has the app as a whole is stored with nothing but the enterprise's id.
type install struct {
	Version int       `json:"version"`
	For     InstallID `json:"for,omitempty"` // the enterprise that it is part of
	Token   string    `json:"token,omitempty"`
	Refresh string    `json:"refresh,omitempty"` // "" where tokens are not rotated
	Expires time.Time `json:"expires,omitzero"`  // zero: never
	Bot     string    `json:"bot,omitempty"`
	URL     string    `json:"url,omitempty"`
	Name    string    `json:"name,omitempty"` // of the workspace or enterprise
	// Enterprise is the one that a workspace belongs to, "" for none.
	Enterprise string    `json:"enterprise,omitempty"`
	Installed  time.Time `json:"installed,omitzero"`
}

const installVersion = 1

// sealer keeps installs from whoever reads the store.
type sealer struct{ aead cipher.AEAD }

// newSealer takes a key of 32 bytes.
func newSealer(key []byte) (sealer, error) {
	if len(key) != 32 {
		return sealer{}, fmt.Errorf("the encryption key has %d bytes, want 32", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("use the encryption key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return sealer{}, fmt.Errorf("use the encryption key: %w", err)
	}
	return sealer{aead}, nil
}

// sealInstall encrypts an install; what is sealed for one id can't be opened under another.
func (s sealer) sealInstall(id InstallID, of install) ([]byte, error) {
	of.Version = installVersion
	plain, err := json.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("encode install %s: %w", id, err)
	}
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(plain)+s.aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("seal install %s: %w", id, err)
	}
	return s.aead.Seal(nonce, nonce, plain, []byte(id)), nil
}

// openInstall reads a sealed install. Its errors hold nothing of what is inside.
func (s sealer) openInstall(id InstallID, sealed []byte) (install, error) {
	if len(sealed) < s.aead.NonceSize() {
		return install{}, fmt.Errorf("open install %s: it is cut short", id)
	}
	nonce, rest := sealed[:s.aead.NonceSize()], sealed[s.aead.NonceSize():]
	plain, err := s.aead.Open(nil, nonce, rest, []byte(id))
	if err != nil {
		return install{}, fmt.Errorf("open install %s: it was sealed with another key, or changed since: set the encryption key that it was installed under, or install the app anew", id)
	}
	var of install
	if err := json.Unmarshal(plain, &of); err != nil {
		return install{}, fmt.Errorf("open install %s: it is no install", id)
	}
	if of.Version != installVersion {
		return install{}, fmt.Errorf("open install %s: it has version %d, this program knows %d", id, of.Version, installVersion)
	}
	return of, nil
}
