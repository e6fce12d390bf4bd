package archtest

// stores are small contracts whose implementations, in SQLite and in Redis, are beside them.
var stores = []string{
	"cairn/internal/access", "cairn/internal/agent/reports", "cairn/internal/chat/settings", "cairn/internal/curated", "cairn/internal/quota/**",
	"cairn/internal/adapters/discord/{fleet,tickets}", "cairn/internal/adapters/slack/{installs,pace}",
}

// rules are the import rules of the architecture.
var rules = []rule{
	{
		name:   "the engine in graph imports the standard library alone",
		in:     []string{"cairn/internal/graph/**"},
		notIn:  []string{"cairn/internal/graph/flows/**"},
		forbid: []string{"**"},
		allow:  []string{standard, "cairn/internal/graph/**"},
	},
	{
		name:   "the engine in graph knows no flow",
		in:     []string{"cairn/internal/graph/**"},
		notIn:  []string{"cairn/internal/graph/flows/**"},
		forbid: []string{"cairn/internal/graph/flows/**"},
	},
	{
		name:   "flows import the engine and what they look at, never sessions, chat or adapters",
		in:     []string{"cairn/internal/graph/flows/**"},
		forbid: []string{"cairn/**"},
		allow: []string{
			"cairn/internal/language/**", "cairn/internal/phrases", "cairn/internal/shorten",
			"cairn/internal/graph/**", "cairn/internal/agent/**", "cairn/internal/knowledge/**",
			"cairn/internal/llm/**", "cairn/internal/document/**", "cairn/internal/repository/**", "cairn/internal/inspect/**", "cairn/internal/pages/**", "cairn/internal/eval",
			"cairn/internal/sqlite/sqlitetest",
		},
	},
	{
		name:   "adapters import chat alone, and what protects their ports",
		in:     []string{"cairn/internal/adapters/**"},
		notIn:  append([]string{"cairn/internal/adapters/web/operations", "cairn/internal/adapters/web/editor"}, stores...),
		forbid: []string{"cairn/**"},
		allow: []string{
			"cairn/internal/chat/**", "cairn/internal/adapters/**", "cairn/internal/listen", "cairn/internal/shorten", "cairn/internal/sqlite/sqlitetest", "cairn/internal/servertest",
			"cairn/internal/graph/flows/answer/replytest",
		},
	},
	{
		// It takes no messages in: it shows what the stores behind these contracts hold.
		name:   "the operations page imports the web page, and contracts of what it shows",
		in:     []string{"cairn/internal/adapters/web/operations"},
		forbid: []string{"cairn/**"},
		allow: []string{
			"cairn/internal/agent", "cairn/internal/agent/reports", "cairn/internal/chat/**", "cairn/internal/adapters/web", "cairn/internal/audit", "cairn/internal/runs",
			"cairn/internal/session", "cairn/internal/digest", "cairn/internal/knowledge", "cairn/internal/knowledge/index", "cairn/internal/knowledge/lexical", "cairn/internal/listen", "cairn/internal/shorten",
		},
		sparesTests: true,
	},
	{
		// It takes no messages in either: people write pages in it.
		name:   "the page editor imports the web page, and pages",
		in:     []string{"cairn/internal/adapters/web/editor"},
		forbid: []string{"cairn/**"},
		allow: []string{
			"cairn/internal/chat/**", "cairn/internal/adapters/web", "cairn/internal/pages/**", "cairn/internal/knowledge",
			"cairn/internal/shorten",
		},
		sparesTests: true,
	},
	{
		// Where an adapter is installed is kept beside all else that processes share.
		name:   "an adapter's store imports its adapter and the database",
		in:     []string{"cairn/internal/adapters/discord/{fleet,tickets}", "cairn/internal/adapters/slack/{installs,pace}"},
		forbid: []string{"cairn/**"},
		allow:  []string{"cairn/internal/adapters/**", "cairn/internal/redis/conn/**", "cairn/internal/sqlite/**", "cairn/internal/servertest"},
	},
	{
		name:   "chat imports nothing of Cairn",
		in:     []string{"cairn/internal/chat/**"},
		notIn:  stores,
		forbid: []string{"cairn/**"},
		allow:  []string{"cairn/internal/chat/**"},
	},
	{
		// What people set in chats is kept beside all else that processes share.
		name:   "a store of chat's imports chat and the database",
		in:     []string{"cairn/internal/chat/settings"},
		forbid: []string{"cairn/**"},
		allow:  []string{"cairn/internal/chat/**", "cairn/internal/redis/conn/**", "cairn/internal/sqlite/**", "cairn/internal/servertest"},
	},
	{
		name:   "audit imports nothing of Cairn",
		in:     []string{"cairn/internal/audit"},
		forbid: []string{"cairn/**"},
		allow:  []string{"cairn/internal/audit"},
	},
	{
		name:   "access imports chat and the words of knowledge, never an index or a bot",
		in:     []string{"cairn/internal/access/**"},
		forbid: []string{"cairn/**"},
		allow: []string{
			"cairn/internal/sqlite",
			"cairn/internal/access/**", "cairn/internal/chat", "cairn/internal/knowledge",
			"cairn/internal/redis/**", "cairn/internal/servertest",
		},
		sparesTests: true,
	},
	{
		name: "knowledge imports neither conversations nor what is built on it",
		in:   []string{"cairn/internal/knowledge/**"},
		forbid: []string{
			"cairn/internal/chat/**", "cairn/internal/session/**", "cairn/internal/bot/**", "cairn/internal/adapters/**",
			"cairn/internal/runs/**", "cairn/internal/graph/**", "cairn/internal/agent/**",
		},
	},
	{
		name:   "only app and cmd/bot import config",
		in:     []string{"**"},
		notIn:  []string{"cairn/cmd/bot/**", "cairn/internal/app", "cairn/internal/config/**"},
		forbid: []string{"cairn/internal/config/**"},
	},
	{
		name:   "nothing imports a command",
		in:     []string{"**"},
		notIn:  []string{"cairn/cmd/bot/**"},
		forbid: []string{"cairn/cmd/**"},
	},
	{
		name:        "only app and cmd/bot import adapters",
		in:          []string{"**"},
		notIn:       []string{"cairn/cmd/bot/**", "cairn/internal/app", "cairn/internal/adapters/**"},
		forbid:      []string{"cairn/internal/adapters/**"},
		sparesTests: true,
	},
	{
		// It measures by decorators, which app puts around what it wires.
		name:        "only app imports telemetry",
		in:          []string{"**"},
		notIn:       []string{"cairn/internal/app", "cairn/internal/telemetry/**"},
		forbid:      []string{"cairn/internal/telemetry/**"},
		sparesTests: true,
	},
	{
		name:        "only app and cmd/bot choose a backend",
		in:          []string{"**"},
		notIn:       append([]string{"cairn/cmd/bot/**", "cairn/internal/app", "cairn/internal/**/{embedded,redis,postgres,openai,local}/**"}, stores...),
		forbid:      []string{"cairn/internal/**/{embedded,redis,postgres,openai,local}/**"},
		sparesTests: true,
	},
	{
		name:   "only cmd/bot imports app",
		in:     []string{"**"},
		notIn:  []string{"cairn/cmd/bot/**", "cairn/internal/app"},
		forbid: []string{"cairn/internal/app"},
	},
	{
		name:        "only cmd/bot and tests import eval",
		in:          []string{"**"},
		notIn:       []string{"cairn/cmd/bot/**"},
		forbid:      []string{"cairn/internal/eval/**"},
		sparesTests: true,
	},
	{
		name:   "eval knows neither index nor flows",
		in:     []string{"cairn/internal/eval/**"},
		forbid: []string{"cairn/**"},
		allow:  []string{"cairn/internal/eval/**", "cairn/internal/knowledge", "cairn/internal/knowledge/connect"},
	},
	{
		name:        "packages for tests are imported by tests alone",
		in:          []string{"**"},
		notIn:       []string{"cairn/**/*test"},
		forbid:      []string{"cairn/**/*test"},
		sparesTests: true,
	},
	confineSDK("slack-go", "adapters/slack", []string{"github.com/slack-go/**"}, "cairn/internal/adapters/slack/**"),
	confineSDK("discordgo", "adapters/discord", []string{"github.com/bwmarrin/discordgo/**"}, "cairn/internal/adapters/discord/**"),
	confineSDK("go-redis", "the Redis backends", []string{"github.com/redis/**", "github.com/go-redis/**"}, append([]string{"cairn/internal/**/redis/**", "cairn/internal/servertest"}, stores...)...),
	confineSDK("pgx", "the Postgres backend", []string{"github.com/jackc/**", "github.com/pgvector/**"}, "cairn/internal/**/postgres/**", "cairn/internal/servertest"),
	confineSDK("go-openai", "llm/openai", []string{"github.com/sashabaranov/**"}, "cairn/internal/llm/openai/**"),
	confineSDK("go-oidc", "adapters/web", []string{"github.com/coreos/go-oidc/**"}, "cairn/internal/adapters/web"),
	confineSDK("kong", "cmd/bot", []string{"github.com/alecthomas/kong/**"}, "cairn/cmd/bot"),
	confineSDK("MCP's SDK", "knowledge/connect/mcp", []string{"github.com/modelcontextprotocol/**"}, "cairn/internal/knowledge/connect/mcp"),
	confineSDK("go-git", "repository/git", []string{"github.com/go-git/**"}, "cairn/internal/repository/git/**"),
	{
		name:        "esbuild and goja are imported by inspect/jsx alone",
		in:          []string{"**"},
		notIn:       []string{"cairn/internal/inspect/jsx", "cairn/tools/**"},
		forbid:      []string{"github.com/evanw/**", "github.com/dop251/**"},
		sparesTests: true,
	},
	confineSDK("OpenTelemetry", "telemetry", []string{"go.opentelemetry.io/**"}, "cairn/internal/telemetry/**"),
	confineSDK("the Prometheus client", "telemetry", []string{"github.com/prometheus/**"}, "cairn/internal/telemetry/**"),
	confineSDK("SQLite", "the embedded backends", []string{"modernc.org/sqlite/**"}, "cairn/internal/**/embedded/**", "cairn/internal/sqlite"),
}

// confineSDK confines the packages of one library to those of Cairn that wrap it.
func confineSDK(name, where string, packages []string, wrappers ...string) rule {
	return rule{
		name:   name + " is imported by " + where + " alone",
		in:     []string{"**"},
		notIn:  wrappers,
		forbid: packages,
	}
}

// strangers are the folders whose children do not import one another.
var strangers = []string{"cairn/internal/graph/flows", "cairn/internal/adapters"}

const strangersName = "flows, and adapters, do not import one another"

// vagueNames say nothing of what a package does.
var vagueNames = []string{
	"util", "utils", "common", "helper", "helpers", "model", "models", "type", "types",
	"manager", "service", "services", "core", "base", "misc", "shared",
}

const vagueName = "a package is named for what it does"
