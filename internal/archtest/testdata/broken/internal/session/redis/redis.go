package redis

import (
	_ "github.com/jackc/pgx/v5" // want "pgx is imported by the Postgres backend alone"
	_ "github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite" // want "SQLite is imported by the embedded backends alone"
)
