package conn

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/servertest"
)

// refused opens an address that can't be opened, within a time, and gives the error. It
// must hold a text, and no password.
func refused(t *testing.T, within time.Duration, address, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	client, err := Open(ctx, address)
	if err == nil {
		client.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
		t.Errorf("%s gives %v, want %q in it and no password", address, err, want)
	}
}

func works(t *testing.T, address string) *Client {
	t.Helper()
	client, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Set(t.Context(), "cairn-key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	return client
}

func TestTLS(t *testing.T) {
	t.Parallel()
	server, authority := servertest.EncryptedRedis(t)
	client := works(t, server.URL)
	host, _, _ := strings.Cut(strings.TrimPrefix(server.URL, "rediss://"), "/")
	_, port, _ := strings.Cut(host, ":")
	none := filepath.Join(t.TempDir(), "none.pem")
	if err := os.WriteFile(none, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, time.Minute, "rediss://:hush@"+host, "?ca=FILE")
	refused(t, time.Minute, "rediss://:hush@localhost:"+port+"?ca="+authority, "for another host")
	refused(t, time.Minute, "redis://:hush@"+host, "with rediss")
	refused(t, time.Minute, "rediss://:hush@"+host+"?ca="+none+".not", "no such file")
	refused(t, time.Minute, "rediss://:hush@"+host+"?ca="+none, "no certificate in PEM")

	plain := servertest.OwnRedis(t)
	refused(t, time.Minute, strings.Replace(plain.URL, "redis://", "rediss://", 1), "speaks no TLS")
	if err := client.ConfigSet(t.Context(), "tls-auth-clients", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	refused(t, time.Minute, server.URL, "tls-auth-clients no")
}

func TestUsers(t *testing.T) {
	t.Parallel()
	own := servertest.OwnRedis(t,
		"--user", "cairn", "on", ">hush", "~cairn*", "+@all",
		"--user", "blind", "on", ">hush", "~cairn*", "+@all", "-info",
		"--user", "narrow", "on", ">hush", "~other*", "+@all")
	host := strings.TrimPrefix(own.URL, "redis://")
	works(t, "redis://cairn:hush@"+host)
	refused(t, time.Minute, "redis://cairn:wrong-hush@"+host, "password is wrong")
	refused(t, time.Minute, "redis://nobody:hush@"+host, "password is wrong")
	refused(t, time.Minute, "redis://blind:hush@"+host, "rights that docs/redis.md lists")
	client, err := open(t, "redis://narrow:hush@"+host)
	if err != nil {
		t.Fatal(err)
	}
	if err := Explain(client.Set(t.Context(), "cairn-key", "value", 0).Err()); err == nil || !strings.Contains(err.Error(), "rights that docs/redis.md lists") {
		t.Errorf("a key of others gives %v", err)
	}
}

func TestSentinels(t *testing.T) {
	t.Parallel()
	watched := servertest.Sentinels(t, "")
	sentinels := strings.TrimSuffix(watched.URL, "/"+servertest.MasterName+"/0")
	works(t, watched.URL)
	refused(t, time.Minute, sentinels+"/other", `no master named "other"`)
	refused(t, time.Minute, "redis+sentinel://"+strings.TrimSuffix(strings.TrimPrefix(watched.Data[0].URL, "redis://"), "/0")+"/main", "is no Sentinel")
	refused(t, time.Second, "redis+sentinel://:hush@127.0.0.1:1/main", "nothing answers there")
	refused(t, time.Minute, watched.Data[1].URL, "replica")
	// One of the addresses is enough.
	works(t, strings.Replace(watched.URL, "redis+sentinel://", "redis+sentinel://127.0.0.1:1,", 1))
}

func TestSentinelsWithAPassword(t *testing.T) {
	t.Parallel()
	watched := servertest.Sentinels(t, "hush")
	works(t, strings.Replace(watched.URL, "redis+sentinel://", "redis+sentinel://:hush@", 1))
	refused(t, time.Minute, watched.URL, "wants a password")
	refused(t, time.Minute, strings.Replace(watched.URL, "redis+sentinel://", "redis+sentinel://:wrong-hush@", 1), "password is wrong")
}

// TestARedisThatReadsItsData has a server read slowly what it holds.
func TestARedisThatReadsItsData(t *testing.T) {
	t.Parallel()
	own := servertest.OwnRedis(t, "--enable-debug-command", "local", "--loading-process-events-interval-bytes", "1024")
	client := works(t, own.URL)
	for i := range 1500 {
		if err := client.Set(t.Context(), "cairn-"+strconv.Itoa(i), strings.Repeat("x", 100), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	set(t, own.URL, "key-load-delay", "2000") // microseconds
	reloaded := make(chan error, 1)
	go func() {
		single := redis.NewClient(&redis.Options{Addr: strings.TrimSuffix(strings.TrimPrefix(own.URL, "redis://"), "/0"), ReadTimeout: time.Minute})
		defer single.Close()
		reloaded <- single.Do(context.WithoutCancel(t.Context()), "DEBUG", "RELOAD").Err()
	}()
	for loading := false; !loading; {
		info, err := client.InfoMap(t.Context(), "persistence").Result()
		if err != nil {
			t.Fatal(err)
		}
		loading = info["Persistence"]["loading"] == "1"
	}
	refused(t, 300*time.Millisecond, own.URL, "still reading its data")
	works(t, own.URL)
	if err := <-reloaded; err != nil {
		t.Error(err)
	}
}

// TestARedisThatStartsLate has the program start first.
func TestARedisThatStartsLate(t *testing.T) {
	t.Parallel()
	own := servertest.OwnRedis(t)
	own.Kill()
	opened := make(chan error, 1)
	go func() {
		client, err := Open(t.Context(), own.URL)
		if err == nil {
			err = client.Close()
		}
		opened <- err
	}()
	own.Start()
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestWhereNothingAnswers(t *testing.T) {
	t.Parallel()
	refused(t, time.Second, "redis://:hush@127.0.0.1:1", "nothing answers there")
	refused(t, time.Second, "redis+cluster://:hush@127.0.0.1:1", "nothing answers there")
	refused(t, time.Minute, "redis://:hush@no-such-host.invalid", "its host has no address")
}

// aged answers as a Redis of an old version does, for as long as the test runs.
func aged(t *testing.T, version string) (address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	serve := func(connection net.Conn) {
		defer connection.Close()
		for lines := bufio.NewScanner(connection); lines.Scan(); {
			switch strings.ToUpper(lines.Text()) {
			case "PING", "CLIENT", "SELECT":
				fmt.Fprint(connection, "+OK\r\n")
			case "HELLO":
				fmt.Fprint(connection, "-ERR unknown command `HELLO`\r\n")
			case "INFO":
				info := "# Server\r\nredis_version:" + version + "\r\n"
				fmt.Fprintf(connection, "$%d\r\n%s\r\n", len(info), info)
			}
		}
	}
	serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(connection) })
		}
	})
	return "redis://" + listener.Addr().String()
}

func TestAnOldServer(t *testing.T) {
	t.Parallel()
	refused(t, time.Minute, aged(t, "5.0.7"), "it is version 5.0.7, and 6.2 or later is needed")
}

func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	own := servertest.OwnRedis(t, "--maxclients", "1")
	occupied := redis.NewClient(&redis.Options{Addr: strings.TrimSuffix(strings.TrimPrefix(own.URL, "redis://"), "/0")})
	defer occupied.Close()
	if err := occupied.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	refused(t, 2*time.Second, own.URL, "raise maxclients")
}
