package webhook_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

func TestBody(t *testing.T) {
	forged := errors.New("forged")
	verify := func(header http.Header, _ []byte) error {
		if header.Get("Signature") == "" {
			return forged
		}
		return nil
	}
	for name, test := range map[string]struct {
		size   int
		signed bool
		want   int
	}{
		"signed":    {webhook.MaxBody, true, http.StatusOK},
		"forged":    {10, false, http.StatusUnauthorized},
		"too large": {webhook.MaxBody + 1, true, http.StatusRequestEntityTooLarge},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", test.size)))
		if test.signed {
			r.Header.Set("Signature", "s")
		}
		body, status, err := webhook.Body(httptest.NewRecorder(), r, verify)
		if status != test.want || (err == nil) != (test.want == http.StatusOK) || err == nil && len(body) != test.size {
			t.Errorf("%s: %d, %d bytes, %v", name, status, len(body), err)
		}
	}
	broken := httptest.NewRequest(http.MethodPost, "/", iotest.ErrReader(errors.New("gone")))
	if _, status, err := webhook.Body(httptest.NewRecorder(), broken, verify); status != http.StatusBadRequest || err == nil {
		t.Errorf("broken: %d, %v", status, err)
	}
}

func TestFresh(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for stamp, want := range map[string]string{
		"1800000000": "", "1799999700": "", "1800000300": "",
		"1799999699": "a timestamp 5m1s away from now; check the clock of this machine",
		"1800000301": "a timestamp 5m1s away from now; check the clock of this machine",
		"":           "no timestamp", "soon": "no timestamp", "9999999999999999999999": "no timestamp",
	} {
		got := ""
		if err := webhook.Fresh(stamp, now); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", stamp, got, want)
		}
	}
}

// FuzzFresh: what is fresh was signed within minutes of now.
func FuzzFresh(f *testing.F) {
	for _, stamp := range []string{"1800000000", "-1", "", "9223372036854775807", "-9223372036854775808", "+1800000000"} {
		f.Add(stamp)
	}
	now := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, stamp string) {
		if webhook.Fresh(stamp, now) != nil {
			return
		}
		digits := strings.TrimLeft(strings.TrimLeft(stamp, "+"), "0")
		if len(digits) != 10 || digits < "1799999700" || digits > "1800000300" {
			t.Errorf("%q is fresh", stamp)
		}
	})
}
