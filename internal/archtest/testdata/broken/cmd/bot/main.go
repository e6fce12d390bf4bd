package main

import (
	_ "github.com/cairn-bot/cairn/internal/adapters/web"
	_ "github.com/cairn-bot/cairn/internal/config"
	_ "github.com/cairn-bot/cairn/internal/eval"
)
