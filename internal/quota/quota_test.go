package quota_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/quota"
)

// noted are counts that keep what they were asked.
type noted struct {
	meters []quota.Meter
	names  []string
	spent  int64
	full   *quota.Full
	err    error
}

func (n *noted) Take(_ context.Context, _ string, meters []quota.Meter) (*quota.Full, error) {
	n.meters = meters
	return n.full, n.err
}

func (n *noted) Spend(_ context.Context, names []string, millionths int64) error {
	n.names, n.spent = names, millionths
	return n.err
}

var message = chat.Message{ID: "m1", Thread: "slack:T1:C1:1.2", Author: "U1"}

func limiter(counts quota.Counts, limits quota.Limits, cost func(string) float64) *quota.Limiter {
	return quota.New(quota.Options{
		Limits: limits, Counts: counts, Cost: cost, Channel: func(chat.Message) (string, bool) { return "T1:C1", true },
	})
}

func TestWhatAMessageCountsAgainst(t *testing.T) {
	user, channel := "user:slack:U1", "channel:slack:T1:C1"
	for name, test := range map[string]struct {
		limits quota.Limits
		want   []quota.Meter
	}{
		"nothing":      {},
		"one":          {quota.Limits{UserQuestions: 3}, []quota.Meter{{Name: user, Questions: 3}}},
		"the other":    {quota.Limits{ChannelCost: 1.5}, []quota.Meter{{Name: channel, Cost: 1_500_000}}},
		"all":          {quota.Limits{1, 2, 3, 4}, []quota.Meter{{user, 1, 3_000_000}, {channel, 2, 4_000_000}}},
		"the smallest": {quota.Limits{UserCost: 1e-9}, []quota.Meter{{Name: user, Cost: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			counts := &noted{}
			if refused, err := limiter(counts, test.limits, nil).Admit(t.Context(), "q", message); refused != nil || err != nil {
				t.Fatalf("%+v, %v", refused, err)
			}
			if !slices.Equal(counts.meters, test.want) {
				t.Errorf("got %+v, want %+v", counts.meters, test.want)
			}
		})
	}
}

func TestARefusal(t *testing.T) {
	counts := &noted{full: &quota.Full{Meter: 1, By: quota.Questions, Wait: time.Minute}}
	got, err := limiter(counts, quota.Limits{UserQuestions: 5, ChannelQuestions: 7}, nil).Admit(t.Context(), "q", message)
	if want := (quota.Refusal{Of: quota.Channel, By: quota.Questions, Limit: 7, Wait: time.Minute}); err != nil || got == nil || *got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWhatARunCosts(t *testing.T) {
	spent := 0.25 // before it works, as a run that was answered has
	counts := &noted{}
	charge := limiter(counts, quota.Limits{UserCost: 1, ChannelQuestions: 1}, func(string) float64 { return spent }).Watch("run-1", message)
	if err := charge(t.Context()); err != nil || counts.names != nil {
		t.Errorf("what costs nothing is charged to %v, %v", counts.names, err)
	}
	spent = 0.75
	if err := charge(t.Context()); err != nil || counts.spent != 500_000 || !slices.Equal(counts.names, []string{"user:slack:U1"}) {
		t.Errorf("charged %d to %v, %v", counts.spent, counts.names, err)
	}
	counts.err = errors.New("no room on the disk")
	if err := charge(t.Context()); err == nil || !strings.Contains(err.Error(), "run run-1 cost: no room on the disk") {
		t.Errorf("got %v", err)
	}
}
