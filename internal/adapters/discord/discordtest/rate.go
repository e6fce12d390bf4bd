package discordtest

import (
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Limit is how many requests may be made in a time.
type Limit struct {
	Most int
	In   time.Duration
}

// Limits are the rate limits of a server.
type Limits struct {
	// Global is the limit of the bot over all routes but those of interactions; its zero
	// value is none.
	Global Limit
	// Routes are the limits of routes by name, such as "POST /channels/{channel}/messages",
	// for each channel, guild or webhook by itself.
	Routes map[string]Limit
	// Other is the limit of routes that Routes doesn't have; its zero value is none.
	Other Limit
	// Invalid is how many answers of 401, 403 or 429 ban the address for as long as they
	// count; its zero value is no ban.
	Invalid Limit
}

// DiscordLimits are Discord's. The global one is documented; those of routes are told by
// headers only, and are here what has been seen of them.
func DiscordLimits() *Limits {
	return &Limits{
		Global: Limit{50, time.Second},
		Routes: map[string]Limit{
			"POST /channels/{channel}/messages":                   {5, 5 * time.Second},
			"PATCH /channels/{channel}/messages/{message}":        {5, 5 * time.Second},
			"DELETE /channels/{channel}/messages/{message}":       {5, time.Second},
			"POST /channels/{channel}/typing":                     {5, 5 * time.Second},
			"POST /channels/{channel}/threads":                    {50, 5 * time.Minute},
			"POST /channels/{channel}/messages/{message}/threads": {50, 5 * time.Minute},
			"POST /webhooks/{webhook}/{token}":                    {5, 5 * time.Second},
		},
		Other:   Limit{50, time.Second},
		Invalid: Limit{10000, invalidFor},
	}
}

// NoLimits has the server take whatever comes, for tests of how fast the app is by itself.
func NoLimits() *Limits { return &Limits{} }

// invalidFor is how long an invalid request counts.
const invalidFor = 10 * time.Minute

// limiter counts requests.
type limiter struct {
	Limits
	buckets map[string]*window
	global  *window
	invalid []time.Time // when requests were answered by 401, 403 or 429
}

// window is a time in which requests count; it begins with its first request.
type window struct {
	ends time.Time
	used int
}

func newLimiter(limits Limits) limiter {
	return limiter{Limits: limits, buckets: map[string]*window{}, global: &window{}}
}

// countUse counts a request of a window, or tells how long until it may be made.
func (w *window) countUse(limit Limit, now time.Time) time.Duration {
	if !now.Before(w.ends) {
		*w = window{ends: now.Add(limit.In)}
	}
	if w.used >= limit.Most {
		return w.ends.Sub(now)
	}
	w.used++
	return 0
}

// countRequest counts a request and sets the headers that tell of its bucket.
func (l *limiter) countRequest(work *request, now time.Time) *refusal {
	if l.Invalid.Most > 0 && l.invalidIn(l.Invalid.In, now) >= l.Invalid.Most {
		banned := newRateLimit(l.Invalid.In, true, "global")
		banned.banned = true
		return banned
	}
	limit, ok := l.Routes[work.is.routeName()]
	if !ok {
		limit = l.Other
	}
	if limit.Most > 0 {
		bucket := work.is.routeName() + " " + work.majorParameter()
		if l.buckets[bucket] == nil {
			l.buckets[bucket] = &window{}
		}
		wait := l.buckets[bucket].countUse(limit, now)
		setLimitHeaders(work.reply, work.is.routeName(), limit, *l.buckets[bucket], now)
		if wait > 0 {
			return newRateLimit(wait, false, "user")
		}
	}
	if l.Global.Most > 0 && !work.is.interaction {
		if wait := l.global.countUse(l.Global, now); wait > 0 {
			return newRateLimit(wait, true, "global")
		}
	}
	return nil
}

// majorParameter returns the parameter by which the requests of a route are counted apart.
func (r *request) majorParameter() string {
	return r.PathValue("channel") + r.PathValue("guild") + r.PathValue("webhook") + r.PathValue("interaction")
}

func setLimitHeaders(header http.Header, route string, limit Limit, used window, now time.Time) {
	hash := fnv.New64a()
	fmt.Fprint(hash, route)
	header.Set("X-RateLimit-Limit", strconv.Itoa(limit.Most))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(limit.Most-used.used))
	header.Set("X-RateLimit-Reset", formatSeconds(time.Duration(used.ends.UnixMilli())*time.Millisecond))
	header.Set("X-RateLimit-Reset-After", formatSeconds(used.ends.Sub(now)))
	header.Set("X-RateLimit-Bucket", fmt.Sprintf("%016x", hash.Sum64()))
}

func formatSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// newRateLimit refuses a request for now.
func newRateLimit(wait time.Duration, global bool, scope string) *refusal {
	return &refusal{
		Status: http.StatusTooManyRequests, Message: "You are being rate limited.",
		RetryAfter: wait.Seconds(), Global: &global, scope: scope, wait: wait,
	}
}

// writeResponse answers a request that is refused. Whom Discord bans never gets as far as to
// Discord: the answer is its content network's, and no JSON.
func (r *refusal) writeResponse(w http.ResponseWriter) {
	r.setHeaders(w.Header())
	if r.banned {
		w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
		w.WriteHeader(r.Status)
		fmt.Fprint(w, "error code: 1015")
		return
	}
	writeAnswer(w, r.Status, r)
}

// setHeaders sets those of a request that is refused for now.
func (r *refusal) setHeaders(header http.Header) {
	if r.Status != http.StatusTooManyRequests {
		return
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(r.wait.Seconds()))))
	header.Set("X-RateLimit-Scope", r.scope)
	if *r.Global {
		header.Set("X-RateLimit-Global", "true")
	}
}

// countInvalid remembers an answer that counts against the address.
func (l *limiter) countInvalid(refused *refusal, now time.Time) {
	if refused == nil || refused.banned {
		return
	}
	switch refused.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		l.invalid = append(l.invalid, now)
	}
}

// invalidIn counts the invalid requests of the time that just went by.
func (l *limiter) invalidIn(span time.Duration, now time.Time) int {
	count := 0
	for _, at := range slices.Backward(l.invalid) {
		if now.Sub(at) >= span {
			break
		}
		count++
	}
	return count
}
