package installs

import (
	_ "cairn/internal/adapters/slack"
	_ "cairn/internal/redis/conn"
	_ "cairn/internal/session" // want "an adapter's store imports its adapter and the database"

	_ "github.com/redis/go-redis/v9"
)
