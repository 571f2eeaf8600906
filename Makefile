SHELL := /bin/bash
.DEFAULT_GOAL := help

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
BIN      := build/specsweep
FUZZTIME ?= 30s
# The linter's version is pinned here and nowhere else.
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help demo build test check lint vuln fuzz bench golden plans html-check cluster-check reliability release release-check

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## run plans/demo.yaml against simulated servers that it starts itself
	PATH="$(CURDIR)/build:$$PATH" $(BIN) run plans/demo.yaml

build: ## build the static binary build/specsweep
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/specsweep

test: ## run all tests with the race detector
	$(GO) test -race -timeout 10m ./...

check: lint test plans ## all that must pass before a change lands
	$(GO) mod tidy -diff
	GO=$(GO) .ci/vuln

lint: ## gofmt, go vet and golangci-lint
	@test -z "$$(gofmt -l cmd plan runner report)" || { gofmt -d cmd plan runner report; exit 1; }
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./cmd/... ./runner/serve ./runner/result
	GOOS=darwin $(GO) vet ./cmd/... ./runner/serve
	$(GO) run $(GOLANGCI) run ./...

vuln: ## look for known vulnerabilities in what is built (govulncheck)
	GO=$(GO) .ci/vuln

release: ## build archives, SBOMs and checksums of the checked-out commit into dist/
	GO=$(GO) .ci/release

release-check: ## build the release twice and compare the bytes
	GO=$(GO) .ci/release --check

fuzz: ## run every fuzz target for FUZZTIME
	@set -e; grep -rl --include='*_test.go' 'func Fuzz' cmd plan runner report | while read -r f; do \
	  d=$$(dirname $$f); \
	  for t in $$(grep -o 'func Fuzz[A-Za-z0-9_]*' $$f | cut -c6-); do \
	    echo "$$d $$t"; $(GO) test ./$$d -run='^$$' -fuzz="^$$t\$$" -fuzztime=$(FUZZTIME); \
	  done; done

bench: ## measure speed and memory and write docs/performance.md
	.ci/bench

reliability: ## kill, break, fuzz and soak (hours) and write docs/reliability.md
	.ci/reliability

golden: ## write the golden files of the tests again; look at the diff
	$(GO) test ./report/... ./cmd/... -update

plans: build ## check every plan in plans/
	@set -e; for p in plans/*.yaml; do echo "$$p"; $(BIN) plan $$p >/dev/null; done

html-check: build ## open a report.html in a headless Chromium and keep screenshots
	.ci/html-check

cluster-check: build ## run a plan in shards on a real Slurm of two nodes (root) and compare with the whole
	.ci/cluster-check
