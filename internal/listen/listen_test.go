package listen

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// TestErrorsNameTheAddressOnce has what people read say each thing once.
func TestErrorsNameTheAddressOnce(t *testing.T) {
	first, err := TCP(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	taken := first.Addr().String()
	_, err = TCP(t.Context(), taken)
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that is in use: %v", err)
	}
	want := "listen at " + taken + ": address already in use: stop the program that uses it, or choose another address with web.listen"
	if got := WithRemedy(err, "web.listen"); got == nil || got.Error() != want {
		t.Errorf("it is said %q, want %q", got, want)
	}
	for _, address := range []string{"127.0.0.1", "127.0.0.1:99999", "nowhere.invalid:80", "192.0.2.1:8080"} {
		if _, err := TCP(t.Context(), address); err == nil || strings.Count(err.Error(), address) != 1 {
			t.Errorf("%s: %v", address, err)
		}
	}
	other := errors.New("no such page")
	if got := WithRemedy(other, "web.listen"); got != other { //nolint:errorlint // the same one
		t.Errorf("another error became %v", got)
	}
}
