package script_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"cairn/internal/redis/conn"
	"cairn/internal/redis/conn/conntest"
	"cairn/internal/redis/script"
	"cairn/internal/servertest"
)

var (
	put = script.New("local function twice(s) return s .. s end", `
redis.call('SET', KEYS[1], twice(ARGV[1]))
return ARGV[2] or 'put'`)
	refuse = script.New("local function twice(s) return s .. s end", `return redis.error_reply('LOST ' .. twice(ARGV[1]))`)
	sum    = script.New("", `
local all = 0
for _, n in ipairs(ARGV) do all = all + n end
return {all, #KEYS}`)
)

// kinds runs a test on a single server and on a cluster.
func kinds(t *testing.T, test func(t *testing.T, client *conn.Client)) {
	t.Run("single", func(t *testing.T) { test(t, conntest.Connect(t, servertest.Redis(t))) })
	t.Run("cluster", func(t *testing.T) {
		test(t, conntest.Connect(t, "redis+cluster://"+strings.Join(servertest.Cluster(t), ",")))
	})
}

func TestDoRunsInOrderUntilOneFails(t *testing.T) {
	kinds(t, func(t *testing.T, client *conn.Client) {
		var said []string
		hear := func(name string) func(context.Context, *redis.Cmd) error {
			return func(_ context.Context, result *redis.Cmd) error {
				text, err := result.Text()
				said = append(said, name+" "+text)
				return err
			}
		}
		var counted []int64
		count := sum.With([]string{"{x}b", "{x}c"}, 1, 2, 3).Then(func(_ context.Context, result *redis.Cmd) (err error) {
			counted, err = result.Int64Slice()
			return err
		})
		err := script.Do(t.Context(), client,
			put.With([]string{"{x}a"}, "1", "first").Then(hear("a")), count, put.With([]string{"{x}d"}, "2"),
			refuse.With(nil, "no").Then(hear("refused")), put.With([]string{"{x}e"}, "3").Then(hear("e")))
		if !redis.HasErrorPrefix(err, "LOST nono") {
			t.Errorf("the error is %v", err)
		}
		if want := []string{"a first", "refused "}; !slices.Equal(said, want) {
			t.Errorf("heard %q, want %q", said, want)
		}
		if !slices.Equal(counted, []int64{6, 2}) {
			t.Errorf("counted %d", counted)
		}
		for key, want := range map[string]string{"{x}a": "11", "{x}d": "22", "{x}e": ""} {
			if got := client.Get(t.Context(), key).Val(); got != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
	})
}

func TestTogetherWritesAtItsEnd(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	value := func() string { return client.Get(t.Context(), "a").Val() }
	err := script.Together(client)(t.Context(), func(ctx context.Context) error {
		if err := script.Do(ctx, client, put.With([]string{"a"}, "1")); err != nil {
			return err
		}
		if got := value(); got != "" {
			t.Errorf("it is written while it is collected: %q", got)
		}
		return script.Do(ctx, client, put.With([]string{"b"}, "2"))
	})
	if err != nil || value() != "11" {
		t.Errorf("written %q, %v", value(), err)
	}
	broken := errors.New("broken")
	err = script.Together(client)(t.Context(), func(ctx context.Context) error {
		return errors.Join(script.Do(ctx, client, put.With([]string{"a"}, "5")), broken)
	})
	if !errors.Is(err, broken) || value() != "11" {
		t.Errorf("after an error in between: %q, %v", value(), err)
	}
	if err := script.Together(client)(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestWhatRaisesIsAnErrorOfAll(t *testing.T) {
	client := conntest.Connect(t, servertest.Redis(t))
	if err := client.RPush(t.Context(), "list", "x").Err(); err != nil {
		t.Fatal(err)
	}
	raise := script.New("", `return redis.call('INCR', KEYS[1])`)
	err := script.Do(t.Context(), client, put.With([]string{"a"}, "1"), raise.With([]string{"list"}), put.With([]string{"b"}, "1"))
	if err == nil || client.Exists(t.Context(), "b").Val() != 0 {
		t.Errorf("the error is %v", err)
	}
}
