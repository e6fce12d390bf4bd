package access

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/cairn-bot/cairn/internal/redis/conn"
)

const (
	groupsKey  = "cairn:{access}:groups"
	versionKey = "cairn:{access}:version"
)

// saveScript has KEYS groups, version; ARGV source, body, or "" to remove.
var saveScript = redis.NewScript(`
local before = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if before == ARGV[2] then return 0 end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
redis.call('INCR', KEYS[2])
return 1`)

// loadScript has KEYS groups, version; ARGV the known version. A store in which nothing was ever
// saved has version 1, as one that lost its version has: 0 is no version.
var loadScript = redis.NewScript(`
local version = tostring(1 + (redis.call('GET', KEYS[2]) or 0))
if version == ARGV[1] then return {version} end
local reply = redis.call('HGETALL', KEYS[1])
table.insert(reply, 1, version)
return reply`)

// Redis is an Store in a Redis.
//
// PREFIX is "cairn".
//
//	key                       type    what
//	PREFIX:{access}:groups    hash    source → its table (access.EncodeTable); kept
//	PREFIX:{access}:version   string  counts the changes; kept
type Redis struct{ client *conn.Client }

var _ Store = (*Redis)(nil)

// OpenRedis gives the table in a Redis. The client stays the caller's.
func OpenRedis(client *conn.Client) *Redis { return &Redis{client: client} }

// SaveGroups implements Store.
func (s *Redis) SaveGroups(ctx context.Context, source string, table Table) error {
	body, err := EncodeTable(table)
	if err != nil {
		return fmt.Errorf("save the groups of %s: %w", source, err)
	}
	if len(table) == 0 {
		body = nil
	}
	if err := saveScript.Run(ctx, s.client, []string{groupsKey, versionKey}, source, string(body)).Err(); err != nil {
		return fmt.Errorf("save the groups of %s: %w", source, err)
	}
	return nil
}

// LoadGroups implements Store.
func (s *Redis) LoadGroups(ctx context.Context, known int64) (map[string]Table, int64, error) {
	reply, err := loadScript.Run(ctx, s.client, []string{groupsKey, versionKey}, strconv.FormatInt(known, 10)).StringSlice()
	if err == nil && len(reply)%2 != 1 {
		err = errors.New("the reply of Redis is not a table")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("load groups: %w", err)
	}
	version, err := strconv.ParseInt(reply[0], 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("load groups: %w", err)
	}
	if version == known {
		return nil, version, nil
	}
	tables := make(map[string]Table)
	for i := 1; i < len(reply); i += 2 {
		if tables[reply[i]], err = DecodeTable([]byte(reply[i+1])); err != nil {
			return nil, 0, fmt.Errorf("load groups of %s: %w", reply[i], err)
		}
	}
	return tables, version, nil
}
