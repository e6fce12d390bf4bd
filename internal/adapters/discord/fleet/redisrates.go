package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
)

// noBucket is the bucket of routes that have no limit of their own.
const noBucket = "-"

// Ask implements Rates.
func (s *Redis) Ask(ctx context.Context, request Request, limits Limits) (Wait, error) {
	bucket, err := s.bucketOf(ctx, request)
	if err != nil {
		return Wait{}, fmt.Errorf("ask for a place of %s: %w", request.Route, err)
	}
	exempt := 0
	if request.Exempt {
		exempt = 1
	}
	behind := 0
	if request.Behind {
		behind = 1
	}
	limited := 1
	if bucket == noBucket {
		limited = 0
	}
	turn := ""
	if request.Turn.Key != "" {
		turn = hashText(request.Turn.Key)
	}
	keys := []string{
		s.storeKey("global"), s.storeKey("bucket:" + bucket), s.storeKey("flight:" + bucket), s.storeKey("route:" + routeBucket(request)),
		s.storeKey("line:" + bucket), s.storeKey("lineend:" + bucket),
	}
	fields, err := askScript.Run(ctx, s.client, keys, request.ID, exempt, limited, limits.PerSecond, limits.Invalid,
		Flight.Milliseconds(), Poll.Milliseconds(), bucket, turn, request.Turn.Order, LineGrace.Milliseconds(), behind).Slice()
	if err != nil {
		return Wait{}, fmt.Errorf("ask for a place of %s: %w", request.Route, conn.Explain(err))
	}
	if len(fields) == 2 {
		ms, ok := fields[0].(int64)
		why, isText := fields[1].(string)
		if ok && isText && ms < 0 { // another replica was told since it was looked up
			s.rememberBucket(routeBucket(request), why)
			return Wait{For: time.Millisecond, Why: WhyProbe}, nil
		}
		if ok && isText {
			return Wait{For: time.Duration(ms) * time.Millisecond, Why: waitReasons[why]}, nil
		}
	}
	return Wait{}, fmt.Errorf("take a place for %s: unexpected script result %v", request.Route, fields)
}

var waitReasons = map[string]string{
	"invalid": WhyInvalid, "global": WhyGlobal, "bucket": WhyBucket, "probe": WhyProbe,
}

// routeBucket returns the hash of a route as one bucket of its own, until it is known which it has.
func routeBucket(request Request) string { return hashText(request.Route + " " + request.Major) }

// bucketOf returns the hash of a route's bucket.
func (s *Redis) bucketOf(ctx context.Context, request Request) (string, error) {
	own := routeBucket(request)
	s.mu.Lock()
	bucket, ok := s.routes[own]
	s.mu.Unlock()
	if ok {
		return bucket, nil
	}
	bucket, err := s.client.Get(ctx, s.storeKey("route:"+own)).Result()
	if errors.Is(err, redis.Nil) {
		return own, nil
	}
	if err != nil {
		return "", conn.Explain(err)
	}
	s.rememberBucket(own, bucket)
	return bucket, nil
}

func (s *Redis) rememberBucket(route, bucket string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.routes) >= maxRoutes {
		clear(s.routes)
	}
	s.routes[route] = bucket
}

// Tell implements Rates.
func (s *Redis) Tell(ctx context.Context, request Request, said Said) error {
	asked, err := s.bucketOf(ctx, request)
	if err != nil {
		return fmt.Errorf("tell of %s: %w", request.Route, err)
	}
	own, bucket := routeBucket(request), asked
	switch {
	case said.Bucket != "":
		bucket = hashText(said.Bucket + " " + request.Major)
	case said.Status/100 == 2:
		bucket = noBucket
	}
	if bucket != asked {
		if err := s.client.Set(ctx, s.storeKey("route:"+own), bucket, request.Known()).Err(); err != nil {
			return fmt.Errorf("tell of %s: %w", request.Route, conn.Explain(err))
		}
		s.rememberBucket(own, bucket)
	}
	invalid, global, uncounted := 0, 0, 0
	if said.Uncounted() {
		uncounted = 1
	}
	if said.Invalid() {
		invalid = 1
	}
	if said.Global {
		global = 1
	}
	// The place was taken in the bucket that was known then, perhaps the route's own.
	flights := []string{s.storeKey("flight:" + own), s.storeKey("flight:" + asked), s.storeKey("flight:" + bucket)}
	err = tellScript.Run(ctx, s.client, append([]string{s.storeKey("global"), s.storeKey("bucket:" + bucket)}, flights...),
		request.ID, said.Limit, said.Remaining, said.Reset, (said.ResetAfter + Slack).Milliseconds(), said.RetryAfter.Milliseconds(),
		global, invalid, InvalidWindow.Milliseconds(), request.Known().Milliseconds(), Tolerance.Milliseconds(), uncounted).Err()
	if err != nil {
		return fmt.Errorf("tell of %s: %w", request.Route, conn.Explain(err))
	}
	return nil
}
