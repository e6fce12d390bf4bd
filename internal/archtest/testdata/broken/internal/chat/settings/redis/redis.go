package redis

import (
	_ "cairn/internal/chat"
	_ "cairn/internal/redis/conn"
	_ "cairn/internal/session" // want "a store of chat's in Redis imports chat and the connection"

	_ "github.com/redis/go-redis/v9"
)
