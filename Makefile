# The commands that developers and .ci/run share. `make` alone lists them.

GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 20s
REPLIES ?= 100000
SYNCS ?= 1000000
TIMEOUT ?= 40m
PKG ?= ./...
SEED ?= 0
STORE ?= redis
THREADS ?= 200
MESSAGES ?= 50
SYNC ?= always
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/\1\t\2/' | expand -t 24

.PHONY: build
build: ## bin/cairn: one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)' -o bin/cairn ./cmd/bot

.PHONY: test
test: ## every test, most packages with the race detector; installs what tests need; skipped tests fail
	scripts/test-needs.sh npm openssl
	TIMEOUT=$(TIMEOUT) scripts/test.sh $(PKG)

.PHONY: test-tools
test-tools: ## build, vet and test the module in tools, which measures Cairn on public sets
	cd tools && go vet ./... && go test ./...

.PHONY: test-arm64
test-arm64: ## the kernels for arm64 in an emulator, on a processor with SDOT and on one without; installs qemu-user
	scripts/test-needs.sh qemu-aarch64:qemu-user
	GOARCH=arm64 go vet ./internal/knowledge/embed/local/...
	for cpu in max cortex-a53; do \
		CGO_ENABLED=0 GOARCH=arm64 go test -exec "qemu-aarch64 -cpu $$cpu" -count=1 ./internal/knowledge/embed/local/matrix || exit 1; \
	done

.PHONY: format
format: ## format every file
	gofmt -w cmd docs internal tools

.PHONY: lint
lint: ## formatting and linters, go vet's among them
	@unformatted=$$(gofmt -l cmd docs internal tools); test -z "$$unformatted" || \
		{ printf 'not formatted (run make format):\n%s\n' "$$unformatted" >&2; exit 1; }
	$(GOLANGCI_LINT) run --allow-parallel-runners

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (20s)
	FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

.PHONY: fuzz-replies
fuzz-replies: ## REPLIES (100,000) made-up replies of models through the check, and what is shown of them through all renderers
	scripts/fuzz-replies.sh $(REPLIES)

.PHONY: sources-model
sources-model: ## SYNCS (1,000,000) random syncs of a source that changes and goes wrong: the index equals it whenever it was listed whole
	go test ./internal/knowledge/ingest -run TestTheIndexEquals -v -timeout 4h -args -syncs $(SYNCS) -seed $(SEED)

.PHONY: bench
bench: ## benchmarks of PKG (all)
	go test -run '^$$' -bench . -benchmem $(PKG)

.PHONY: lexical
lexical: ## bundle the Lexical editor anew from npm packages that are pinned by hash; fails where the bundles that are committed differ
	cd tools/lexical && npm ci --ignore-scripts --no-audit --no-fund && go run . ../..
	git diff --exit-code --stat -- internal/pages internal/adapters/web/assets

.PHONY: lexical-compare
lexical-compare: ## 50,000 random pages through the document model and through the real Lexical in Node.js; SEED repeats a run
	go test -count=1 -timeout 60m -v -run 'Lexical' ./internal/pages/tree -args -tree.node=$$(command -v node) -tree.pages=50000 -tree.seed=$(SEED)

.PHONY: merge-pairs
merge-pairs: ## 200,000 random pairs of edits of a page: nothing is lost in silence; SEED repeats a run
	go test -count=1 -timeout 60m -v -run 'TestNothingIsLost' ./internal/pages/merge -args -merge.pairs=200000 -merge.seed=$(SEED)

.PHONY: bench-postgres
bench-postgres: ## the index in PostgreSQL with 100,000 passages: rates, latency, recall
	go test -v -run '^$$' -bench '^BenchmarkIndex$$' -benchtime 1000x -timeout 30m ./internal/knowledge/index/postgres

.PHONY: bench-postgres-viewers
bench-postgres-viewers: ## searches by people who hold 1, 100 and 10,000 principals against one without a filter, in PostgreSQL
	go test -v -run '^$$' -bench '^BenchmarkViewers$$' -benchtime 200x -timeout 60m ./internal/knowledge/index/postgres

.PHONY: bench-postgres-million
bench-postgres-million: ## the same with 1,000,000 passages; takes half an hour and 10 GB of disk
	CAIRN_PASSAGES=1000000 go test -v -run '^$$' -bench '^BenchmarkIndex$$' -benchtime 400x -timeout 120m ./internal/knowledge/index/postgres

.PHONY: access-million
access-million: ## a million random questions of random people to each index: nobody is shown what is not for them; takes an hour
	CAIRN_WORLD_QUESTIONS=1000000 go test -v -run '^TestNobodyIsShown' -timeout 300m ./internal/access

.PHONY: bench-retrieval
bench-retrieval: ## nDCG@10 of both indexes on the sets in CAIRN_RETRIEVAL; fails where they differ
	go test -run '^$$' -bench '^BenchmarkRetrieval$$' -benchtime 1x -timeout 30m ./internal/knowledge/index/postgres

.PHONY: bench-slack
bench-slack: build ## mentions at 300 a second for a minute, then 32 in flight for 30 s: what Cairn acknowledges and answers
	go test -count=1 -timeout 10m -v -run TestSlackLoad ./cmd/bot -args -program=$(CURDIR)/bin/cairn -slack.rate=300 -slack.for=60s -slack.loop=30s

.PHONY: bench-slack-others
bench-slack-others: build ## Cairn beside bots on slack-go and Bolt that keep nothing, and one that keeps the least, in turn; fetches Bolt from npm, needs Node 18
	cmd/bot/testdata/echoes/run.sh

.PHONY: bench-discord
bench-discord: build ## mentions at 200 a second for a minute through Discord's gateway: what is lost, doubled, and taken
	go test -count=1 -timeout 10m -v -run TestDiscordLoad ./cmd/bot -args -program=$(CURDIR)/bin/cairn -discord.rate=200 -discord.for=60s

.PHONY: discord-js
discord-js: ## the fake Discord with a bot on discord.js in it; fetches it from npm, needs Node 18
	internal/adapters/discord/discordtest/testdata/discordjs/run.sh

.PHONY: socket-io
socket-io: ## the relay, and the client of relays, against npm's socket.io and socket.io-client; fetches them, needs Node 18
	internal/inspect/relay/testdata/socketio/run.sh

.PHONY: mcp-everything
mcp-everything: ## the connector of MCP servers against npm's server-everything; fetches it, needs Node 18
	internal/knowledge/connect/mcp/testdata/everything/run.sh

.PHONY: web-apps
web-apps: ## 30 small web apps and 10 of other shapes on five frameworks, minified: how many handlers are found in their lines; fetches the frameworks, needs Node 18 and Chromium
	internal/inspect/browser/testdata/webapps/run.sh

.PHONY: slack-emulate
slack-emulate: ## the Slack adapter against npm's emulate; fetches it and Node 24
	scripts/slack-emulate.sh

.PHONY: chaos
chaos: ## kill, stop and cut off real processes for a while; SEED repeats a run, STORE is redis or embedded, SYNC Redis's appendfsync
	go test -count=1 -timeout 30m -v -run TestChaos ./internal/bot/chaos -args -chaos.seed=$(SEED) -chaos.store=$(STORE) \
		-chaos.sync=$(SYNC) -chaos.threads=$(THREADS) -chaos.messages=$(MESSAGES) -chaos.limit=25m

.PHONY: chaos-platform
chaos-platform: ## real processes on a Slack that is slow, limits and fails, killed and stopped meanwhile; SEED repeats a run, MESSAGES are 10000 unless said
	go test -count=1 -timeout 60m -v -run TestSlackChaos ./cmd/bot -args -platform.seed=$(SEED) \
		-platform.messages=$(if $(filter command line environment,$(origin MESSAGES)),$(MESSAGES),10000) -platform.rate=6

.PHONY: chaos-discord
chaos-discord: ## as chaos-platform, in a Discord that is slow, limits and fails
	go test -count=1 -timeout 60m -v -run TestDiscordChaos ./cmd/bot -args -discord.seed=$(SEED) \
		-discord.messages=$(if $(filter command line environment,$(origin MESSAGES)),$(MESSAGES),10000) -discord.pace=10

.PHONY: image-test
image-test: ## build the image with buildah and try it with podman, without a network; needs Debian and root
	scripts/image-test.sh

.PHONY: sbom
sbom: build ## bin/cairn.cdx.json: what is linked into the program, in CycloneDX
	scripts/sbom.sh

.PHONY: dist
dist: ## dist/: archives, packages, the chart, a formula, checksums; VERSION and PLATFORMS choose
	scripts/dist.sh

.PHONY: site
site: ## site/: the documentation as a website with search, which needs no server
	go run ./docs/site site

.PHONY: pictures
pictures: build ## draw the pictures of the README anew; needs Chromium
	go run ./docs/pictures bin/cairn

.PHONY: dist-check
dist-check: ## make a release twice and compare each byte: for this machine, or PLATFORMS; COLD=1 compiles anew
	scripts/dist-check.sh

.PHONY: reach
reach: ## how many functions one question enters in the smallest setting, by package
	scripts/reach.sh

.PHONY: licences
licences: build ## bin/licences.csv; fails on a licence that is not allowed
	scripts/licences.sh

.PHONY: nightly
nightly: ## 100,000 made-up replies, every fuzz target for a minute, vulnerabilities, sbom, licences, a release twice
	scripts/nightly.sh

.PHONY: forge-check
forge-check: ## the connector for forges against a real Gitea, which is built once into a cache (minutes)
	CAIRN_GITEA="$$(scripts/gitea.sh)" go test -count=1 -tags forgecheck -timeout 20m -v -run TestGitea ./internal/knowledge/connect/forge ./cmd/bot

.PHONY: chart-tools
chart-tools: ## the tools that check the Helm chart, built into a cache folder
	scripts/chart-tools.sh

.PHONY: chart-check
chart-check: ## the Helm chart: lint, unit tests, every shape by kube-score and kubectl-validate, its README
	scripts/chart-check.sh

.PHONY: chart-docs
chart-docs: ## write charts/cairn/README.md from the comments in values.yaml
	"$$(scripts/chart-tools.sh)/bin/helm-docs" --chart-search-root charts/cairn --log-level warning

.PHONY: chart-e2e
chart-e2e: ## install, upgrade, test, roll back and uninstall the chart on a real control plane; builds it, takes long the first time
	scripts/chart-e2e.sh

.PHONY: demo
demo: ## try Cairn on its own documentation
	go run ./cmd/bot demo
