package archtest

// stores are small contracts whose implementations, in SQLite and in Redis, are beside them.
var stores = []string{
	"github.com/cairn-bot/cairn/internal/access", "github.com/cairn-bot/cairn/internal/agent/reports", "github.com/cairn-bot/cairn/internal/chat/settings", "github.com/cairn-bot/cairn/internal/curated", "github.com/cairn-bot/cairn/internal/quota/**",
	"github.com/cairn-bot/cairn/internal/adapters/discord/{fleet,tickets}", "github.com/cairn-bot/cairn/internal/adapters/slack/{installs,pace}",
	"github.com/cairn-bot/cairn/internal/adapters/web/uploads",
}

// rules are the import rules of the architecture.
var rules = []rule{
	{
		name:   "the engine in graph imports the standard library alone",
		in:     []string{"github.com/cairn-bot/cairn/internal/graph/**"},
		notIn:  []string{"github.com/cairn-bot/cairn/internal/graph/flows/**"},
		forbid: []string{"**"},
		allow:  []string{standard, "github.com/cairn-bot/cairn/internal/graph/**"},
	},
	{
		name:   "the engine in graph knows no flow",
		in:     []string{"github.com/cairn-bot/cairn/internal/graph/**"},
		notIn:  []string{"github.com/cairn-bot/cairn/internal/graph/flows/**"},
		forbid: []string{"github.com/cairn-bot/cairn/internal/graph/flows/**"},
	},
	{
		name:   "flows import the engine and what they look at, never sessions, chat or adapters",
		in:     []string{"github.com/cairn-bot/cairn/internal/graph/flows/**"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow: []string{
			"github.com/cairn-bot/cairn/internal/language/**", "github.com/cairn-bot/cairn/internal/phrases", "github.com/cairn-bot/cairn/internal/shorten",
			"github.com/cairn-bot/cairn/internal/graph/**", "github.com/cairn-bot/cairn/internal/agent/**", "github.com/cairn-bot/cairn/internal/knowledge/**",
			"github.com/cairn-bot/cairn/internal/llm/**", "github.com/cairn-bot/cairn/internal/document/**", "github.com/cairn-bot/cairn/internal/repository/**", "github.com/cairn-bot/cairn/internal/inspect/**", "github.com/cairn-bot/cairn/internal/pages/**", "github.com/cairn-bot/cairn/internal/eval",
			"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest",
		},
	},
	{
		name:   "adapters import chat alone, and what protects their ports",
		in:     []string{"github.com/cairn-bot/cairn/internal/adapters/**"},
		notIn:  append([]string{"github.com/cairn-bot/cairn/internal/adapters/web/operations", "github.com/cairn-bot/cairn/internal/adapters/web/editor"}, stores...),
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow: []string{
			"github.com/cairn-bot/cairn/internal/chat/**", "github.com/cairn-bot/cairn/internal/adapters/**", "github.com/cairn-bot/cairn/internal/listen", "github.com/cairn-bot/cairn/internal/shorten", "github.com/cairn-bot/cairn/internal/sqlite/sqlitetest", "github.com/cairn-bot/cairn/internal/servertest",
			"github.com/cairn-bot/cairn/internal/graph/flows/answer/replytest",
		},
	},
	{
		// It takes no messages in: it shows what the stores behind these contracts hold.
		name:   "the operations page imports the web page, and contracts of what it shows",
		in:     []string{"github.com/cairn-bot/cairn/internal/adapters/web/operations"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow: []string{
			"github.com/cairn-bot/cairn/internal/agent", "github.com/cairn-bot/cairn/internal/agent/reports", "github.com/cairn-bot/cairn/internal/chat/**", "github.com/cairn-bot/cairn/internal/adapters/web", "github.com/cairn-bot/cairn/internal/audit", "github.com/cairn-bot/cairn/internal/runs",
			"github.com/cairn-bot/cairn/internal/session", "github.com/cairn-bot/cairn/internal/digest", "github.com/cairn-bot/cairn/internal/curated", "github.com/cairn-bot/cairn/internal/knowledge", "github.com/cairn-bot/cairn/internal/knowledge/index", "github.com/cairn-bot/cairn/internal/knowledge/lexical", "github.com/cairn-bot/cairn/internal/listen", "github.com/cairn-bot/cairn/internal/shorten",
		},
		sparesTests: true,
	},
	{
		// It takes no messages in either: people write pages in it.
		name:   "the page editor imports the web page, and pages",
		in:     []string{"github.com/cairn-bot/cairn/internal/adapters/web/editor"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow: []string{
			"github.com/cairn-bot/cairn/internal/chat/**", "github.com/cairn-bot/cairn/internal/adapters/web", "github.com/cairn-bot/cairn/internal/pages/**", "github.com/cairn-bot/cairn/internal/knowledge",
			"github.com/cairn-bot/cairn/internal/shorten",
		},
		sparesTests: true,
	},
	{
		// Where an adapter is installed is kept beside all else that processes share.
		name:   "an adapter's store imports its adapter and the database",
		in:     []string{"github.com/cairn-bot/cairn/internal/adapters/discord/{fleet,tickets}", "github.com/cairn-bot/cairn/internal/adapters/slack/{installs,pace}", "github.com/cairn-bot/cairn/internal/adapters/web/uploads"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow:  []string{"github.com/cairn-bot/cairn/internal/adapters/**", "github.com/cairn-bot/cairn/internal/chat/**", "github.com/cairn-bot/cairn/internal/redis/conn/**", "github.com/cairn-bot/cairn/internal/sqlite/**", "github.com/cairn-bot/cairn/internal/servertest"},
	},
	{
		name:   "chat imports nothing of Cairn",
		in:     []string{"github.com/cairn-bot/cairn/internal/chat/**"},
		notIn:  stores,
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow:  []string{"github.com/cairn-bot/cairn/internal/chat/**"},
	},
	{
		// What people set in chats is kept beside all else that processes share.
		name:   "a store of chat's imports chat and the database",
		in:     []string{"github.com/cairn-bot/cairn/internal/chat/settings"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow:  []string{"github.com/cairn-bot/cairn/internal/chat/**", "github.com/cairn-bot/cairn/internal/redis/conn/**", "github.com/cairn-bot/cairn/internal/sqlite/**", "github.com/cairn-bot/cairn/internal/servertest"},
	},
	{
		name:   "audit imports nothing of Cairn",
		in:     []string{"github.com/cairn-bot/cairn/internal/audit"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow:  []string{"github.com/cairn-bot/cairn/internal/audit"},
	},
	{
		name:   "access imports chat and the words of knowledge, never an index or a bot",
		in:     []string{"github.com/cairn-bot/cairn/internal/access/**"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow: []string{
			"github.com/cairn-bot/cairn/internal/sqlite",
			"github.com/cairn-bot/cairn/internal/access/**", "github.com/cairn-bot/cairn/internal/chat", "github.com/cairn-bot/cairn/internal/knowledge",
			"github.com/cairn-bot/cairn/internal/redis/**", "github.com/cairn-bot/cairn/internal/servertest",
		},
		sparesTests: true,
	},
	{
		name: "knowledge imports neither conversations nor what is built on it",
		in:   []string{"github.com/cairn-bot/cairn/internal/knowledge/**"},
		forbid: []string{
			"github.com/cairn-bot/cairn/internal/chat/**", "github.com/cairn-bot/cairn/internal/session/**", "github.com/cairn-bot/cairn/internal/bot/**", "github.com/cairn-bot/cairn/internal/adapters/**",
			"github.com/cairn-bot/cairn/internal/runs/**", "github.com/cairn-bot/cairn/internal/graph/**", "github.com/cairn-bot/cairn/internal/agent/**",
		},
	},
	{
		name:   "only app and cmd/bot import config",
		in:     []string{"**"},
		notIn:  []string{"github.com/cairn-bot/cairn/cmd/bot/**", "github.com/cairn-bot/cairn/internal/app", "github.com/cairn-bot/cairn/internal/config/**"},
		forbid: []string{"github.com/cairn-bot/cairn/internal/config/**"},
	},
	{
		name:   "nothing imports a command",
		in:     []string{"**"},
		notIn:  []string{"github.com/cairn-bot/cairn/cmd/bot/**"},
		forbid: []string{"github.com/cairn-bot/cairn/cmd/**"},
	},
	{
		name:        "only app and cmd/bot import adapters",
		in:          []string{"**"},
		notIn:       []string{"github.com/cairn-bot/cairn/cmd/bot/**", "github.com/cairn-bot/cairn/internal/app", "github.com/cairn-bot/cairn/internal/adapters/**"},
		forbid:      []string{"github.com/cairn-bot/cairn/internal/adapters/**"},
		sparesTests: true,
	},
	{
		// It measures by decorators, which app puts around what it wires.
		name:        "only app imports telemetry",
		in:          []string{"**"},
		notIn:       []string{"github.com/cairn-bot/cairn/internal/app", "github.com/cairn-bot/cairn/internal/telemetry/**"},
		forbid:      []string{"github.com/cairn-bot/cairn/internal/telemetry/**"},
		sparesTests: true,
	},
	{
		name:        "only app and cmd/bot choose a backend",
		in:          []string{"**"},
		notIn:       append([]string{"github.com/cairn-bot/cairn/cmd/bot/**", "github.com/cairn-bot/cairn/internal/app", "github.com/cairn-bot/cairn/internal/**/{embedded,redis,postgres,openai,local}/**"}, stores...),
		forbid:      []string{"github.com/cairn-bot/cairn/internal/**/{embedded,redis,postgres,openai,local}/**"},
		sparesTests: true,
	},
	{
		name:   "only cmd/bot imports app",
		in:     []string{"**"},
		notIn:  []string{"github.com/cairn-bot/cairn/cmd/bot/**", "github.com/cairn-bot/cairn/internal/app"},
		forbid: []string{"github.com/cairn-bot/cairn/internal/app"},
	},
	{
		name:        "only cmd/bot and tests import eval",
		in:          []string{"**"},
		notIn:       []string{"github.com/cairn-bot/cairn/cmd/bot/**"},
		forbid:      []string{"github.com/cairn-bot/cairn/internal/eval/**"},
		sparesTests: true,
	},
	{
		name:   "eval knows neither index nor flows",
		in:     []string{"github.com/cairn-bot/cairn/internal/eval/**"},
		forbid: []string{"github.com/cairn-bot/cairn/**"},
		allow:  []string{"github.com/cairn-bot/cairn/internal/eval/**", "github.com/cairn-bot/cairn/internal/knowledge", "github.com/cairn-bot/cairn/internal/knowledge/connect"},
	},
	{
		name:        "packages for tests are imported by tests alone",
		in:          []string{"**"},
		notIn:       []string{"github.com/cairn-bot/cairn/**/*test"},
		forbid:      []string{"github.com/cairn-bot/cairn/**/*test"},
		sparesTests: true,
	},
	confineSDK("slack-go", "adapters/slack", []string{"github.com/slack-go/**"}, "github.com/cairn-bot/cairn/internal/adapters/slack/**"),
	confineSDK("discordgo", "adapters/discord", []string{"github.com/bwmarrin/discordgo/**"}, "github.com/cairn-bot/cairn/internal/adapters/discord/**"),
	confineSDK("go-redis", "the Redis backends", []string{"github.com/redis/**", "github.com/go-redis/**"}, append([]string{"github.com/cairn-bot/cairn/internal/**/redis/**", "github.com/cairn-bot/cairn/internal/servertest"}, stores...)...),
	confineSDK("pgx", "the Postgres backend", []string{"github.com/jackc/**", "github.com/pgvector/**"}, "github.com/cairn-bot/cairn/internal/**/postgres/**", "github.com/cairn-bot/cairn/internal/servertest"),
	confineSDK("go-openai", "llm/openai", []string{"github.com/sashabaranov/**"}, "github.com/cairn-bot/cairn/internal/llm/openai/**"),
	confineSDK("go-oidc", "adapters/web", []string{"github.com/coreos/go-oidc/**"}, "github.com/cairn-bot/cairn/internal/adapters/web"),
	confineSDK("kong", "cmd/bot", []string{"github.com/alecthomas/kong/**"}, "github.com/cairn-bot/cairn/cmd/bot"),
	confineSDK("MCP's SDK", "knowledge/connect/mcp", []string{"github.com/modelcontextprotocol/**"}, "github.com/cairn-bot/cairn/internal/knowledge/connect/mcp"),
	confineSDK("go-git", "repository/git", []string{"github.com/go-git/**"}, "github.com/cairn-bot/cairn/internal/repository/git/**"),
	{
		name:        "esbuild and goja are imported by inspect/jsx alone",
		in:          []string{"**"},
		notIn:       []string{"github.com/cairn-bot/cairn/internal/inspect/jsx", "github.com/cairn-bot/cairn/tools/**"},
		forbid:      []string{"github.com/evanw/**", "github.com/dop251/**"},
		sparesTests: true,
	},
	confineSDK("OpenTelemetry", "telemetry", []string{"go.opentelemetry.io/**"}, "github.com/cairn-bot/cairn/internal/telemetry/**"),
	confineSDK("the Prometheus client", "telemetry", []string{"github.com/prometheus/**"}, "github.com/cairn-bot/cairn/internal/telemetry/**"),
	confineSDK("SQLite", "the embedded backends", []string{"modernc.org/sqlite/**"}, "github.com/cairn-bot/cairn/internal/**/embedded/**", "github.com/cairn-bot/cairn/internal/sqlite"),
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
var strangers = []string{"github.com/cairn-bot/cairn/internal/graph/flows", "github.com/cairn-bot/cairn/internal/adapters"}

const strangersName = "flows, and adapters, do not import one another"

// vagueNames say nothing of what a package does.
var vagueNames = []string{
	"util", "utils", "common", "helper", "helpers", "model", "models", "type", "types",
	"manager", "service", "services", "core", "base", "misc", "shared",
}

const vagueName = "a package is named for what it does"
