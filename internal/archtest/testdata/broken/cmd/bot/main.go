package main

import (
	_ "cairn/internal/adapters/web"
	_ "cairn/internal/config"
	_ "cairn/internal/eval"
)
