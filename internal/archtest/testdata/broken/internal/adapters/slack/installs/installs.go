package installs

import (
	_ "github.com/cairn-bot/cairn/internal/adapters/slack"
	_ "github.com/cairn-bot/cairn/internal/redis/conn"
	_ "github.com/cairn-bot/cairn/internal/session" // want "an adapter's store imports its adapter and the database"

	_ "github.com/redis/go-redis/v9"
)
