package fleettest

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/discord/fleet"
)

// api is Discord's REST API as far as limits go: windows of a bucket, and so many
// requests in any second.
type api struct {
	limit  int
	window time.Duration
	all    int

	mu      sync.Mutex
	buckets map[string]*apiBucket
	recent  []time.Time
	served  map[string]int
	limited []string // requests that were refused, in words
}

type apiBucket struct {
	used int
	ends time.Time
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for len(a.recent) > 0 && now.Sub(a.recent[0]) >= time.Second {
		a.recent = a.recent[1:]
	}
	channel := strings.Split(r.URL.Path, "/")[4]
	bucket := a.buckets[channel]
	if bucket == nil || !now.Before(bucket.ends) {
		bucket = &apiBucket{ends: now.Add(a.window)}
		a.buckets[channel] = bucket
	}
	header := w.Header()
	header.Set("X-RateLimit-Bucket", "messages")
	header.Set("X-RateLimit-Limit", fmt.Sprint(a.limit))
	header.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(bucket.ends.UnixMilli())/1000))
	header.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", max(0, bucket.ends.Sub(now).Seconds()+0.0005)))
	if bucket.used >= a.limit || len(a.recent) >= a.all {
		a.limited = append(a.limited, fmt.Sprintf("%d of channel %s, %d in a second", bucket.used, channel, len(a.recent)))
		header.Set("X-RateLimit-Remaining", "0")
		header.Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"retry_after": 0.05}`)
		return
	}
	bucket.used++
	a.recent = append(a.recent, now)
	a.served[channel]++
	header.Set("X-RateLimit-Remaining", fmt.Sprint(a.limit-bucket.used))
	w.WriteHeader(http.StatusOK)
}

// testSteadyLoad has two replicas send as much as they can: Discord refuses none of it.
func testSteadyLoad(t *testing.T, one, other Store) {
	discord := &api{
		limit: 5, window: 250 * time.Millisecond, all: 50,
		buckets: make(map[string]*apiBucket), served: make(map[string]int),
	}
	server := httptest.NewServer(discord)
	defer server.Close()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var senders sync.WaitGroup
	const replicas, channels, each = 2, 4, 10
	for replica, store := range []Store{one, other} {
		transport := &fleet.Transport{
			Next: http.DefaultTransport, Rates: store, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}
		client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
		for channel := range channels {
			chance := rand.New(rand.NewPCG(seed, uint64(replica*channels+channel)))
			delays := chance.Perm(each)
			senders.Go(func() {
				var inner sync.WaitGroup
				for _, delay := range delays {
					inner.Go(func() {
						timer := time.NewTimer(time.Duration(delay) * 10 * time.Millisecond)
						<-timer.C
						postMessage(t, client, fmt.Sprintf("%s/api/v10/channels/%d/messages", server.URL, 1000+channel))
					})
				}
				inner.Wait()
			})
		}
	}
	senders.Wait()
	discord.mu.Lock()
	defer discord.mu.Unlock()
	if len(discord.limited) != 0 {
		t.Errorf("Discord refused %q", discord.limited)
	}
	for channel, count := range discord.served {
		if count != replicas*each {
			t.Errorf("channel %s was sent %d", channel, count)
		}
	}
	if len(discord.served) != channels {
		t.Errorf("%d channels were sent to", len(discord.served))
	}
}

func postMessage(t *testing.T, client *http.Client, url string) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"content":"hello"}`))
	if err != nil {
		t.Error(err)
		return
	}
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
}
