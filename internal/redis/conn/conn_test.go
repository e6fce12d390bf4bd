package conn

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/servertest"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		address string
		want    target
	}{
		{"redis://localhost", target{addresses: []string{"localhost:6379"}}},
		{" redis://u%40:p%2F%3A@10.0.0.1:7000/3 ", target{addresses: []string{"10.0.0.1:7000"}, user: "u@", password: "p/:", database: 3}},
		{"rediss://x/2?ca=%2Fetc%2Fca.pem", target{encrypted: true, addresses: []string{"x:6379"}, ca: "/etc/ca.pem", database: 2}},
		{"rediss+cluster://a,b?ca=ca.pem", target{kind: cluster, encrypted: true, addresses: []string{"a:6379", "b:6379"}, ca: "ca.pem"}},
		{"rediss://:secret@[::1]:6380/", target{encrypted: true, addresses: []string{"[::1]:6380"}, password: "secret"}},
		{"redis+cluster://a,b:7001,[::1]", target{kind: cluster, addresses: []string{"a:6379", "b:7001", "[::1]:6379"}}},
		{"redis+sentinel://a,b:1/main/2", target{kind: sentinel, addresses: []string{"a:26379", "b:1"}, master: "main", database: 2}},
	} {
		got, err := parseAddress(test.address)
		if err != nil || !equal(got, test.want) {
			t.Errorf("%s is %+v, %v; want %+v", test.address, got, err, test.want)
		}
	}
}

func equal(a, b target) bool {
	same := strings.Join(a.addresses, " ") == strings.Join(b.addresses, " ")
	a.addresses, b.addresses = nil, nil
	return same && a.kind == b.kind && a.encrypted == b.encrypted && a.user == b.user && a.password == b.password &&
		a.master == b.master && a.ca == b.ca && a.database == b.database
}

func TestBadAddressesNameTheRemedyAndNoSecret(t *testing.T) {
	for address, want := range map[string]string{
		"localhost:6379":                             "must begin with redis://",
		"http://:hunter2@x":                          "must begin with redis://",
		"redis://:hunter2@":                          "host:port",
		"redis://:hunter2@x:port":                    "host:port",
		"redis://:hunter2@x:70000":                   "host:port",
		"redis://:hunter2%@x":                        "%25",
		"redis://:hun/ter2@x":                        "%23 and %40",
		"redis://:hunter2@x/y":                       "number of a database",
		"redis://:hunter2@x/-1":                      "number of a database",
		"redis://:hunter2@x?db=1":                    "%3F",
		"rediss://:hunter2@x?ca=":                    "?ca=/etc",
		"redis://:hunter2@x?ca=file":                 "?ca=/etc",
		"rediss://:hunter2@x?ca=a&ca=b":              "the only one is ca",
		"rediss://:hunter2@x?ca=%zz":                 "the only one is ca",
		"redis://:hunter2@x,y":                       "several hosts",
		"redis+sentinel://:hunter2@x":                "name of the master",
		"redis+cluster://:hunter2@x,y/1":             "one database",
		"redis://" + strings.Repeat("x", maxAddress): "at most",
	} {
		_, err := Open(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hun") {
			t.Errorf("%s gives %v, want %q in it and no password", address, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"redis://u:p@h:1/2", "rediss+cluster://a,b", "redis+sentinel://a/m/1", "redis://[::1]", "redis://@", "redis://:%zz@x", "rediss://h?ca=f", "redis://h/?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		got, err := parseAddress(address)
		if err == nil && (len(got.addresses) == 0 || got.database < 0 || got.kind == sentinel && got.master == "") {
			t.Errorf("%q is %+v", address, got)
		}
	})
}

func set(t *testing.T, address string, settings ...string) {
	t.Helper()
	options, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	for i := 0; i < len(settings); i += 2 {
		if err := client.ConfigSet(t.Context(), settings[i], settings[i+1]).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, address string) (*Client, error) {
	t.Helper()
	client, err := Open(t.Context(), address)
	if err == nil {
		t.Cleanup(func() {
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return client, err
}

func TestWarnings(t *testing.T) {
	own := servertest.OwnRedis(t)
	client, err := open(t, own.URL)
	if err != nil || len(client.Warnings) != 0 {
		t.Fatalf("a Redis as it should be gives %v, %v", client, err)
	}
	set(t, own.URL, "appendonly", "no", "maxmemory", "1gb", "maxmemory-policy", "allkeys-lru")
	client, err = open(t, own.URL)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(client.Warnings, "\n"); len(client.Warnings) != 2 || !strings.Contains(got, "appendonly yes") || !strings.Contains(got, "allkeys-lru") {
		t.Errorf("warnings are %q", got)
	}
}

func TestServersThatCannotBeWorkedWith(t *testing.T) {
	own := servertest.OwnRedis(t)
	host := strings.TrimSuffix(strings.TrimPrefix(own.URL, "redis://"), "/0")
	wants := func(address, want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		client, err := Open(ctx, address)
		if err == nil {
			client.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s gives %v, want %q in it and no password", address, err, want)
		}
	}
	wants("redis://"+host+"/999", "no such database")
	wants("redis+cluster://"+host, "write the address as redis://")
	set(t, own.URL, "requirepass", "correct horse")
	wants("redis://"+host, "wants a password")
	wants("redis://:hunter2@"+host, "password is wrong")
	if _, err := open(t, "redis://:correct%20horse@"+host); err != nil {
		t.Errorf("the right password gives %v", err)
	}

	replica := servertest.OwnRedis(t)
	options, err := redis.ParseURL(replica.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	wants(replica.URL, "replica")
	wants("redis://"+servertest.Cluster(t)[0], "redis+cluster://")
}

func TestOlder(t *testing.T) {
	for version, want := range map[string]bool{"6.0.16": true, "5.0": true, "": true, "6.2": false, "6.2.1": false, "7.0.15": false, "10.1": false} {
		if olderThan(version, minVersion) != want {
			t.Errorf("%q is older: %v", version, !want)
		}
	}
	if err := (&Client{}).checkServer(map[string]string{"redis_version": "6.0.16"}); err == nil || !strings.Contains(err.Error(), "6.0.16") {
		t.Errorf("an old server gives %v", err)
	}
}
