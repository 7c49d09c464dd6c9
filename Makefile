# make run     the service with a simulated cluster; Ctrl-C stops all of it
# make test    all tests, with the race detector
# make build   all programs into bin/, plugins into bin/plugins/
# make faults  every fault of an update, where make test tries those that stand for the others
# make bench   the figures of speed and load
# make lint    gofmt, vet, staticcheck, buf, shellcheck
# make proto   Go code from sdk/proto        make generate   all other generated files

SHELL := /bin/sh
GO ?= go
BIN := $(CURDIR)/bin
TOOLS := $(BIN)/tools
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION) -X github.com/hostler/hostler/plugins/pve.version=$(VERSION)

STATICCHECK := $(TOOLS)/staticcheck-v0.8.2
EXAMPLES := $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod))
BUF := $(TOOLS)/buf-v1.57.2
PROTOC_GEN_GO := $(TOOLS)/protoc-gen-go
PROTOC_GEN_GO_GRPC := $(TOOLS)/protoc-gen-go-grpc

.PHONY: run test build faults bench lint proto generate deps deps-run clean

run: deps-run build
	@exec $(BIN)/hostler-demo --bin $(BIN)

build:
	@mkdir -p $(BIN)/plugins
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/hostlerd ./cmd/hostler-updater ./cmd/hostler-sign ./cmd/pvesim ./cmd/hostler-demo
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/plugins/ ./cmd/hostler-plugin-pve

test: deps
	$(GO) test -race ./...
	@set -e; for dir in $(EXAMPLES); do echo "$$dir"; (cd $$dir && $(GO) test -race ./...); done

faults: deps
	HOSTLER_ALL_FAULTS=1 $(GO) test -timeout 30m ./updater/

# The whole programs first, then the parts; one package at a time, so that none disturbs another.
bench: deps
	$(GO) test -run '^$$' -bench . -benchtime 5x ./cmd/hostlerd/
	$(GO) test -p 1 -run '^$$' -bench . ./core/plugin/ ./core/poll/ ./core/job/ ./core/api/... ./core/identity/ ./core/secret/ ./core/audit/ ./core/activity/ ./core/metric/ ./plugins/pve/...

lint: deps $(STATICCHECK) $(BUF)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "not formatted:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(BUF) lint
	@$(MAKE) -s breaking
	shellcheck .ci/run .ci/deps
	$(GO) mod tidy -diff
	@set -e; for dir in $(EXAMPLES); do echo "$$dir"; (cd $$dir && $(GO) vet ./... && $(STATICCHECK) ./... && $(GO) mod tidy -diff); done

# The interface of plugins must not break for those who wrote one: it is held against the newest release.
.PHONY: breaking
breaking: $(BUF)
	@tag=$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true); \
	if [ -n "$$tag" ]; then $(BUF) breaking --against ".git#tag=$$tag"; \
	elif git rev-parse -q --verify HEAD~1 >/dev/null && git cat-file -e HEAD~1:buf.yaml 2>/dev/null; then $(BUF) breaking --against ".git#ref=$$(git rev-parse HEAD~1)"; fi

proto: $(BUF) $(PROTOC_GEN_GO) $(PROTOC_GEN_GO_GRPC)
	PATH="$(TOOLS):$$PATH" $(BUF) generate

generate:
	$(GO) generate ./...

deps:
	@.ci/deps

deps-run:
	@.ci/deps run

$(STATICCHECK):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.8.2 && mv $(TOOLS)/staticcheck $@

$(BUF):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(GO) install github.com/bufbuild/buf/cmd/buf@v1.57.2 && mv $(TOOLS)/buf $@

$(PROTOC_GEN_GO):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(GO) install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12

$(PROTOC_GEN_GO_GRPC):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(GO) install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2

clean:
	rm -rf $(BIN)
