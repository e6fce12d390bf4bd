package embedded

import (
	_ "github.com/alecthomas/kong"                 // want "kong is imported by cmd/bot alone"
	_ "github.com/dop251/goja/parser"              // want "esbuild and goja are imported by inspect/jsx alone"
	_ "github.com/evanw/esbuild/pkg/api"           // want "esbuild and goja are imported by inspect/jsx alone"
	_ "github.com/go-git/go-git/v5"                // want "go-git is imported by repository/git alone"
	_ "github.com/modelcontextprotocol/go-sdk/mcp" // want "MCP's SDK is imported by knowledge/connect/mcp alone"
	_ "github.com/redis/go-redis/v9"               // want "go-redis is imported by the Redis backends alone"
	_ "github.com/sashabaranov/go-openai"          // want "go-openai is imported by llm/openai alone"
	_ "modernc.org/sqlite"
	_ "modernc.org/sqlite/vfs"
)
