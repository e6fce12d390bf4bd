package settings

import (
	_ "github.com/cairn-bot/cairn/internal/chat"
	_ "github.com/cairn-bot/cairn/internal/redis/conn"
	_ "github.com/cairn-bot/cairn/internal/session" // want "a store of chat's imports chat and the database"

	_ "github.com/redis/go-redis/v9"
)
