package config

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	host := testHost(t)
	redis := write(t, host.WorkDir, "redis.txt", "redis://:hush@h:1/2\n")
	postgres := write(t, host.WorkDir, "postgres.txt", "postgres://u:hush@h/d\n")
	ofRedis := func(c Config) Address { return c.Redis.Address }
	ofPostgres := func(c Config) Address { return c.Postgres.Address }
	ofReplica := func(c Config) Address { return c.Postgres.Read }
	for _, test := range []struct {
		name, file  string
		environment map[string]string
		of          func(Config) Address
		url, shown  string // or what the error says
	}{
		{name: "a plain address", file: "redis: {url: redis://h:1}", of: ofRedis, url: "redis://h:1", shown: "url: \"redis://h:1\""},
		{name: "the environment has one with a password", file: "redis: {url: redis://h:1}", environment: map[string]string{"CAIRN_REDIS_URL": "rediss://u:hush@h"}, of: ofRedis, url: "rediss://u:hush@h", shown: "url: \"rediss://u@h\""},
		{name: "a file has it", environment: map[string]string{"CAIRN_REDIS_URL_FILE": redis}, of: ofRedis, url: "redis://:hush@h:1/2", shown: "url: \"\""},
		{name: "a password in the settings", file: "redis: {url: 'redis://u:hush@h'}", shown: "it holds a password: set CAIRN_REDIS_URL"},
		{name: "no address", file: "redis: {url: localhost}", shown: "want an address such as redis://host:6379/0"},
		{name: "no such file", file: "redis: {url_file: nowhere}", shown: "there is no such file"},

		{name: "a database", file: "postgres: {url: 'postgres://u@h:1/d?sslmode=require'}", of: ofPostgres, url: "postgres://u@h:1/d?sslmode=require", shown: "url: \"postgres://u@h:1/d?sslmode=require\""},
		{name: "a password of a database", environment: map[string]string{"CAIRN_POSTGRES_URL": "postgres://u:hush@h/d?application_name=x"}, of: ofPostgres, url: "postgres://u:hush@h/d?application_name=x", shown: "url: \"postgres://u@h/d?application_name=x\""},
		{name: "passwords as parameters", environment: map[string]string{"CAIRN_POSTGRES_URL": "postgres://h/d?p%61ssword=hush&sslmode=disable&sslpassword=hush"}, of: ofPostgres, url: "postgres://h/d?p%61ssword=hush&sslmode=disable&sslpassword=hush", shown: "url: \"postgres://h/d?sslmode=disable\""},
		{name: "a password as a parameter in the settings", file: "postgres: {url: 'postgres://h/d?password=hush'}", shown: "it holds a password: set CAIRN_POSTGRES_URL"},
		{name: "a file with a database", file: "postgres: {url_file: postgres.txt}", of: ofPostgres, url: "postgres://u:hush@h/d", shown: "url_file: " + postgres},
		{name: "parameters that can't be read", environment: map[string]string{"CAIRN_POSTGRES_URL": "postgres://h/d?password=hush;x=1"}, shown: "want an address such as postgres://"},
		{name: "words with a password", environment: map[string]string{"CAIRN_POSTGRES_URL": "host=h password=hush"}, shown: "CAIRN_POSTGRES_URL: want an address such as postgres://"},
		{name: "another server", file: "postgres: {url: 'mysql://h/d'}", shown: "postgres.url: want an address such as postgres://"},
		{name: "no database", file: "postgres: {url: 'postgres://h/'}", shown: "it names no database"},
		{name: "a replica", file: "postgres: {url: 'postgres://h/d'}", environment: map[string]string{"CAIRN_POSTGRES_READ_URL": "postgres://u:hush@r/d"}, of: ofReplica, url: "postgres://u:hush@r/d", shown: "read_url: \"postgres://u@r/d\""},
		{name: "a replica of nothing", file: "postgres: {read_url: 'postgres://h/d'}", shown: "postgres.url names no primary: set it"},
		{name: "too many connections", file: "postgres: {connections: 1001}", shown: "want a whole number from 1 to 1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			write(t, host.WorkDir, "cairn.yaml", test.file)
			got, err := host.with(test.environment).Load("")
			if test.url == "" {
				if err == nil || !strings.Contains(err.Error(), test.shown) || strings.Contains(err.Error(), "hush") {
					t.Errorf("Load = %v, want %q", err, test.shown)
				}
				return
			}
			if err != nil || test.of(got).URL.Reveal() != test.url {
				t.Fatalf("Load = %+v, %v", got, err)
			}
			if shown := got.String(); !strings.Contains(shown, test.shown) || strings.Contains(shown, "hush") {
				t.Errorf("shown as:\n%s", shown)
			}
		})
	}
}
