package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
)

// scripted answers one request after another, without a network.
type scripted struct {
	answers []answer
	bodies  []string
}

type answer struct {
	status int
	header map[string]string
	body   string
	err    error
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, string(raw))
	}
	next := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	if next.err != nil {
		return nil, next.err
	}
	header := http.Header{}
	for name, value := range next.header {
		header.Set(name, value)
	}
	return &http.Response{StatusCode: next.status, Header: header, Body: io.NopCloser(strings.NewReader(next.body)), Request: r}, nil
}

func transport(t *testing.T, answers ...answer) (*fleet.Transport, *scripted) {
	discord := &scripted{answers: answers}
	return &fleet.Transport{Next: discord, Rates: fleet.NewMemory(), Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}, discord
}

// send gives the status and the body of the answer.
func send(ctx context.Context, t *testing.T, through http.RoundTripper, body io.Reader) (int, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://discord.test/api/v10/channels/1/messages", body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := through.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw), nil
}

var limited = map[string]string{"Retry-After": "8", "X-RateLimit-Scope": "user", "X-RateLimit-Bucket": "b"}

func TestA429IsWaitedForAndSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		through, discord := transport(t, answer{429, limited, `{"retry_after": 7.5}`, nil}, answer{status: 200, body: "done"})
		begin := time.Now()
		status, body, err := send(t.Context(), t, through, strings.NewReader("hello"))
		if err != nil || status != 200 || body != "done" {
			t.Fatalf("%d %q, %v", status, body, err)
		}
		if waited := time.Since(begin); waited != 7500*time.Millisecond {
			t.Errorf("waited %s", waited)
		}
		if got := fmt.Sprint(discord.bodies); got != "[hello hello]" {
			t.Errorf("sent %s", got)
		}
	})
}

func TestA429IsGivenToTheCaller(t *testing.T) {
	for name, test := range map[string]struct {
		answer answer
		body   io.Reader
	}{
		"where it wants too long a wait":        {answer{429, nil, `{"retry_after": 31}`, nil}, strings.NewReader("hello")},
		"where the body can't be read twice":    {answer{429, limited, `{"retry_after": 1}`, nil}, io.MultiReader(strings.NewReader("hello"))},
		"where it says it in the header alone":  {answer{429, map[string]string{"Retry-After": "40"}, `none`, nil}, nil},
		"where the number in it is none":        {answer{429, map[string]string{"Retry-After": "40"}, `{"retry_after": 1e300}`, nil}, nil},
		"where it wants one of all for an hour": {answer{429, map[string]string{"Retry-After": "3600", "X-RateLimit-Global": "true"}, ``, nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			through, _ := transport(t, test.answer)
			status, body, err := send(t.Context(), t, through, test.body)
			if err != nil || status != 429 || body != test.answer.body {
				t.Errorf("%d %q, %v", status, body, err)
			}
		})
	}
}

func TestAWaitEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		through, _ := transport(t, answer{429, limited, `{"retry_after": 3600}`, nil})
		if status, _, err := send(t.Context(), t, through, nil); err != nil || status != 429 {
			t.Fatalf("%d, %v", status, err)
		}
		// One that would wait past its deadline, or its patience, does not begin to wait.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		patient := fleet.WithTurn(t.Context(), fleet.Turn{Key: "k", Patience: time.Minute})
		for name, ctx := range map[string]context.Context{"deadline": ctx, "patience": patient} {
			begun := time.Now()
			_, _, err := send(ctx, t, through, strings.NewReader("hello"))
			later, ok := errors.AsType[*fleet.TurnError](err)
			if !ok || later.After != time.Hour || time.Since(begun) != 0 || !strings.Contains(err.Error(), fleet.WhyBucket) {
				t.Errorf("%s: got %v after %s", name, err, time.Since(begun))
			}
		}
		// One that ends while it waits is told so.
		cancelled, end := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, end)
		_, _, err := send(cancelled, t, through, strings.NewReader("hello"))
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fleet.WhyBucket) {
			t.Errorf("got %v", err)
		}
	})
}

// TestA429IsNotWaitedForWithoutPatience has Discord refuse what is to be sent now or later.
func TestA429IsNotWaitedForWithoutPatience(t *testing.T) {
	through, discord := transport(t, answer{429, limited, `{"retry_after": 7.5}`, nil})
	ctx := fleet.WithTurn(t.Context(), fleet.Turn{Key: "k", Patience: time.Second})
	status, _, err := send(ctx, t, through, strings.NewReader("hello"))
	if err != nil || status != 429 || len(discord.bodies) != 1 {
		t.Errorf("%d, %v, sent %v", status, err, discord.bodies)
	}
}

// TestWaitsThatAreGivenUpTakeNothing has ten times as many give up as there are places, as
// those do whose time ends before their turn: the window after has all its places.
func TestWaitsThatAreGivenUpTakeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		headers := func(remaining, reset string) map[string]string {
			return map[string]string{"X-RateLimit-Bucket": "b", "X-RateLimit-Limit": "5", "X-RateLimit-Remaining": remaining,
				"X-RateLimit-Reset": reset, "X-RateLimit-Reset-After": "5"}
		}
		through, discord := transport(t, answer{200, headers("0", "1000"), "", nil}, answer{200, headers("4", "1005"), "", nil})
		if _, _, err := send(t.Context(), t, through, strings.NewReader("first")); err != nil {
			t.Fatal(err)
		}
		for n := range 50 {
			ctx := fleet.WithTurn(t.Context(), fleet.Turn{Key: fmt.Sprint("given up ", n), Order: int64(n), Patience: time.Second})
			if _, _, err := send(ctx, t, through, strings.NewReader("x")); err == nil {
				t.Fatal("it was sent")
			}
		}
		<-time.After(5*time.Second + fleet.Slack)
		for n := range 5 {
			ctx := fleet.WithTurn(t.Context(), fleet.Turn{Key: fmt.Sprint("given up ", n), Order: int64(n), Patience: time.Second})
			if _, _, err := send(ctx, t, through, strings.NewReader("in time")); err != nil {
				t.Errorf("request %d of the next window: %v", n, err)
			}
		}
		if len(discord.bodies) != 6 {
			t.Errorf("sent %v", discord.bodies)
		}
	})
}

// TestAFailedRequestGivesItsPlaceBack would wait for a minute if it did not.
func TestAFailedRequestGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("connection reset")
		through, _ := transport(t, answer{err: lost}, answer{status: 204})
		if _, _, err := send(t.Context(), t, through, nil); !errors.Is(err, lost) {
			t.Fatalf("got %v", err)
		}
		begin := time.Now()
		if _, _, err := send(t.Context(), t, through, nil); err != nil || time.Since(begin) > time.Second {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
	})
}

// TestPace has one replica send as fast as it may for ten seconds: never more than fifty
// in any second.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		through, _ := transport(t, answer{status: 204})
		var sent []time.Time
		for begin := time.Now(); time.Since(begin) < 10*time.Second; {
			if _, _, err := send(t.Context(), t, through, nil); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, time.Now())
			if n := len(sent); n > 50 && sent[n-1].Sub(sent[n-51]) < time.Second {
				t.Fatalf("request %d is the fifty-first in a second", n)
			}
		}
		if len(sent) < 390 {
			t.Errorf("only %d in ten seconds", len(sent))
		}
	})
}
