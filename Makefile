# The commands that developers and .ci/run share. `make` alone lists them.

GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 20s
TIMEOUT ?= 10m
PKG ?= ./...
SEED ?= 0
STORE ?= redis
THREADS ?= 200
MESSAGES ?= 50

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 10

.PHONY: build
build: ## bin/cairn: one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/cairn ./cmd/bot

.PHONY: test
test: ## every test, with the race detector; installs what tests need; skipped tests fail
	scripts/test-needs.sh
	TIMEOUT=$(TIMEOUT) scripts/test.sh $(PKG)

.PHONY: format
format: ## format every file
	gofmt -w cmd docs internal

.PHONY: lint
lint: ## formatting, go vet and linters
	@unformatted=$$(gofmt -l cmd docs internal); test -z "$$unformatted" || \
		{ printf 'not formatted (run make format):\n%s\n' "$$unformatted" >&2; exit 1; }
	go vet ./...
	$(GOLANGCI_LINT) run --allow-parallel-runners

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (20s)
	FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

.PHONY: bench
bench: ## benchmarks of PKG (all)
	go test -run '^$$' -bench . -benchmem $(PKG)

.PHONY: chaos
chaos: ## kill, stop and cut off real processes for a while; SEED repeats a run, STORE is redis or embedded
	go test -count=1 -timeout 30m -v -run TestChaos ./internal/bot/chaos -args -chaos.seed=$(SEED) -chaos.store=$(STORE) \
		-chaos.threads=$(THREADS) -chaos.messages=$(MESSAGES) -chaos.limit=25m

.PHONY: demo
demo: ## try Cairn on its own documentation
	go run ./cmd/bot demo
