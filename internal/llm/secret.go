package llm

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a key that no log line, message or file shows. The zero value is none.
type Secret struct {
	// A pointer, because fmt prints the insides of unexported fields, but of pointers
	// in them the address alone.
	value *string
}

// NewSecret hides a value; "" gives the zero Secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal gives the value, to be sent to whom it is for.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero tells whether there is no secret.
func (s Secret) IsZero() bool { return s.value == nil }

// String hides the value.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// Format hides the value whatever the verb.
func (s Secret) Format(state fmt.State, _ rune) {
	fmt.Fprint(state, s.String())
}

// LogValue hides the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON hides the value.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }
