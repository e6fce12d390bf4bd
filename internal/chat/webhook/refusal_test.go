package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/chat/webhook"
)

func forged(n int) error {
	return &webhook.RefusedError{Reason: webhook.WrongSignature, Err: fmt.Errorf("forgery %d", n)}
}

// TestForgeriesAreCounted has thousands of forged deliveries come within two minutes.
func TestForgeriesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := webhook.NewRefusalLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: withoutTime})), "refused")
		ctx, cancel := context.WithCancel(t.Context())
		go log.Run(ctx)
		<-time.After(50 * time.Millisecond) // between two ticks of the log's
		for n := range 1200 {
			log.Refused(ctx, "/events", 401, forged(n))
			<-time.After(100 * time.Millisecond)
		}
		log.Refused(ctx, "/events", 413, &webhook.RefusedError{Reason: webhook.TooLarge, Err: errors.New("2 MiB")})
		log.Refused(ctx, "/events", 500, errors.New("the store is down"))
		log.Refused(ctx, "/events", 500, errors.New("the store is down"))
		<-time.After(5 * time.Minute)
		log.Refused(ctx, "/events", 401, forged(1200))
		log.Refused(ctx, "/events", 401, forged(1201))
		cancel()
		synctest.Wait()
		want := strings.Join([]string{
			`level=WARN msg=refused status=401 reason="a wrong signature" count=1 error="forgery 0"`,
			`level=WARN msg=refused status=401 reason="a wrong signature" count=599 error="forgery 599"`,
			`level=WARN msg=refused status=401 reason="a wrong signature" count=600 error="forgery 1199"`,
			`level=WARN msg=refused status=413 reason="too large" count=1 error="2 MiB"`,
			`level=WARN msg=refused status=500 path=/events error="the store is down"`,
			`level=WARN msg=refused status=500 path=/events error="the store is down"`,
			`level=WARN msg=refused status=401 reason="a wrong signature" count=1 error="forgery 1200"`,
			`level=WARN msg=refused status=401 reason="a wrong signature" count=1 error="forgery 1201"`,
		}, "\n") + "\n"
		if got := out.String(); got != want {
			t.Errorf("the log has\n%swant\n%s", got, want)
		}
	})
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
