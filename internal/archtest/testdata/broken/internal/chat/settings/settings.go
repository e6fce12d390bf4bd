package settings

import (
	_ "cairn/internal/chat"
	_ "cairn/internal/redis/conn"
	_ "cairn/internal/session" // want "a store of chat's imports chat and the database"

	_ "github.com/redis/go-redis/v9"
)
