# The commands that developers and .ci/run share. `make` alone lists them.

GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 20s
TIMEOUT ?= 10m
PKG ?= ./...

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
	$(GOLANGCI_LINT) run

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (20s)
	FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

.PHONY: bench
bench: ## benchmarks of PKG (all)
	go test -run '^$$' -bench . -benchmem $(PKG)

.PHONY: demo
demo: ## try Cairn on its own documentation
	go run ./cmd/bot demo
