# make run       the service with a simulated cluster [LISTEN=127.0.0.1:9480]; Ctrl-C stops everything
# make test      the short tier of the tests, which every change runs
# make check     everything else, in parts: PARTS="race kills lxd node updater contract page package privileges"; see CONTRIBUTING.md
# make build     all programs into bin/, plugins into bin/plugins/, with the web page in the service
# make contract  the OpenAPI document through a linter, three client generators and schemathesis, against the real service
# make bench     measurements of speed and load
# make lint      gofmt, line length, vet, staticcheck, buf, shellcheck, and breaking changes of public interfaces (make breaking)
# make docs      the documentation site, built from docs/ into bin/docs
# make ui        the web page, built from core/ui/web into core/ui/dist when its sources have changed; make ui-test tests it in a browser,
#                make ui-dev serves its sources in front of a service that make run started
# make deb       the Debian package [VERSION=1.2.3]; make deb-check builds it twice and runs lintian; make package-test tests
#                it on a separate Debian (as root)
# make proto     Go code from sdk/proto
# make generate  all other generated files [GENERATE=./package]

SHELL := /bin/sh
GO ?= go
BIN := $(CURDIR)/bin
# Large downloads that all checkouts share.
CACHE ?= $(or $(XDG_CACHE_HOME),$(if $(HOME),$(HOME)/.cache),$(BIN))/hostler
# Programs that make lint and make proto run, by the Go that built them. Building them takes 15 seconds, so all checkouts share them.
TOOLS := $(CACHE)/tools-$(shell $(GO) env GOVERSION)
# Packages and releases need a version that can be compared: the given one, or one that updater/packaging/version computes.
GIVEN_VERSION := $(VERSION)
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# The plugins of a release: each is in cmd/hostler-plugin-NAME and reports the version of plugins/NAME.
PLUGINS := $(sort $(notdir $(wildcard cmd/hostler-plugin-*)))
LDFLAGS := -s -w -X main.version=$(VERSION) \
	$(foreach plugin,$(PLUGINS),-X github.com/hostler/hostler/plugins/$(plugin:hostler-plugin-%=%).version=$(VERSION))

STATICCHECK := $(TOOLS)/staticcheck-v0.8.2
EXAMPLES := $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod))
OAPI_CODEGEN := $(TOOLS)/oapi-codegen-v2.8.2
CONTRACT := core/api/contract
BUF := $(TOOLS)/buf-v1.57.2
OASDIFF := $(TOOLS)/oasdiff-v1.38.0
PROTOC_GEN_GO := $(TOOLS)/v1.36.12/protoc-gen-go
PROTOC_GEN_GO_GRPC := $(TOOLS)/v1.6.2/protoc-gen-go-grpc

# Everything that compiles the service uses SHARED (internal/programtest and client/api/generate too), so that each package is compiled once.
# -trimpath lets all checkouts share compiled packages. Debug data, which the linker omits anyway, would take an eighth of the processor time.
SHARED := -trimpath -gcflags=all=-dwarf=false
# The compiler takes a third less processor time if it collects no garbage. It then needs up to 600 MB.
COMPILE := $(SHARED) -toolexec 'env GOGC=off GOMEMLIMIT=1GiB'

# make lint vets; -w omits debug data. Tests often wait, so one package more than there are processors runs, and two tests for each processor
# in every package.
TEST_FLAGS = $(COMPILE) -vet=off -ldflags=-w -shuffle=on -timeout 40m -p $$(($$(nproc) + 1)) -parallel $$((2 * $$(nproc)))
RACE_FLAGS = -race $(TEST_FLAGS)

RELEASE := $(BIN)/release
GOARCH ?= $(shell $(GO) env GOARCH)
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
PACKAGING := updater/packaging
UI := core/ui/web
# Sources of the web page. The list contains the folders because deleting a file is a change too.
PAGE_SOURCES := $(shell find $(UI) -mindepth 1 \( -name node_modules -o -name journeys -o -name built -o -path $(UI)/src/api/schema.d.ts \) -prune -o \
	! -name '*.test.ts' ! -name '*.check.ts' ! -name 'openapi.json*' -print)
# Prefix of a command in $(UI): selects the Node that can build the page.
NODE_PATH = PATH="$$(./node-folder):$$PATH"
SCRIPTS := .ci/run .ci/check .ci/deps .ci/breaking .ci/docs $(UI)/node-folder $(addprefix $(PACKAGING)/,version changes changelog build-deb check-deb lib/database sbin/hostlerd debian/postinst debian/prerm debian/postrm) \
	migrations/testdata/schema24/write $(wildcard plugins/scripts/overlay/*)

PARTS ?= race kills lxd node updater contract page package privileges

.PHONY: run test check $(PARTS:%=check-%) build contract contract-tools bench lint proto generate tools deps deps-run docs docs-tools ui ui-dev ui-test ui-smoke ui-check ui-tools FORCE clean release-tree release-tarball deb deb-check package-test

run: deps-run build
	@exec $(BIN)/hostler-demo --bin $(BIN) $(if $(LISTEN),--listen $(LISTEN))

build: ui
	@mkdir -p $(BIN)/plugins
	CGO_ENABLED=0 $(GO) build $(COMPILE) -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/hostlerd ./cmd/hostler ./cmd/hostler-updater ./cmd/hostler-console ./cmd/hostler-sign ./cmd/pvesim ./cmd/hostler-demo
	CGO_ENABLED=0 $(GO) build $(COMPILE) -ldflags '$(LDFLAGS)' -o $(BIN)/plugins/ $(PLUGINS:%=./cmd/%)

# Programs that tests start are built like in make build: their common packages are compiled once, before the timeout of the tests starts.
test: export CGO_ENABLED = 0
test: deps-run ui
	$(GO) build $(COMPILE) ./core/service ./plugins/pve ./plugins/pve/pvesim ./plugins/lxd ./updater ./sdk/hypervisor/memdriver
	$(GO) run $(COMPILE) ./core/db/dbtest/withserver $(GO) test -short $(TEST_FLAGS) ./...
	@set -e; for dir in $(EXAMPLES); do echo "$$dir"; (cd $$dir && $(GO) test -short $(TEST_FLAGS) ./...); done
	cd $(UI) && $(NODE_PATH) npm run -s unit

# Each test that make test skips runs in one of the parts of make check.
check:
	@.ci/check $(PARTS)

# Packages whose tests start whole programs: the race detector would see almost nothing of them.
PROGRAMS := ./cmd/hostlerd/processtest ./cmd/hostlerd/pvegolden ./updater
# Packages whose tests log in to an SSH server or boot a machine with systemd, and those that start LXD.
NODE := ./core/appscript ./core/install ./core/nodeunit ./internal/nodetest ./plugins/pve ./plugins/pve/pvessh
LXD := ./plugins/lxd/...
# Tests of processtest that start LXD.
LXD_TESTS := '^TestSideBySide$$'
# Tests of scenarios that boot a machine with systemd.
NODE_TESTS := '^TestUndoOfApply'

# Root can start all servers that tests need, so a test that cannot start one fails. For other users it skips.
ROOT := $(if $(filter 0,$(shell id -u)),1)
check-race check-kills check-lxd check-node: export HOSTLER_SERVERS_REQUIRED ?= $(ROOT)
# A program with the race detector waits a second at its end; a tenth is enough.
check-race check-lxd check-node: export GORACE = atexit_sleep_ms=100

# core/api runs only its short tier here: its sweeps take ten times the processor time with the race detector. check-privileges runs them
# without it.
check-race: deps ui
	$(GO) test $(RACE_FLAGS) -skip $(NODE_TESTS) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(PROGRAMS) $(NODE) $(LXD) ./core/api)")
	$(GO) test -short $(RACE_FLAGS) ./core/api
	@set -e; for dir in $(EXAMPLES); do echo "$$dir"; (cd $$dir && $(GO) test $(RACE_FLAGS) ./...); done

check-kills: deps ui
	CGO_ENABLED=0 $(GO) test $(TEST_FLAGS) -skip $(LXD_TESTS) ./cmd/hostlerd/processtest

check-lxd: deps
	$(GO) test $(RACE_FLAGS) $(LXD)
	CGO_ENABLED=0 $(GO) test $(TEST_FLAGS) -run $(LXD_TESTS) ./cmd/hostlerd/processtest

check-node: deps
	$(GO) test $(RACE_FLAGS) $(NODE)
	$(GO) test $(RACE_FLAGS) -run $(NODE_TESTS) ./core/api/scenarios

check-updater: deps ui
	CGO_ENABLED=0 $(GO) test $(TEST_FLAGS) ./updater

check-privileges: deps
	CGO_ENABLED=0 $(GO) test $(TEST_FLAGS) ./cmd/hostlerd/pvegolden ./core/api

check-contract: contract

check-page: ui-check ui-test

check-package: deb-check package-test

# The files of a release, the same for tarball and package. The build is reproducible for a commit and version.
release-tree:
	@set -e; version=$$($(PACKAGING)/version '$(GIVEN_VERSION)'); $(MAKE) -s $(RELEASE)/$(GOARCH) VERSION=$$version

.PHONY: $(RELEASE)/$(GOARCH)
$(RELEASE)/$(GOARCH): export CGO_ENABLED = 0
$(RELEASE)/$(GOARCH): ui
	@rm -rf $@ $@-commands
	@mkdir -p $@/bin/plugins $@-commands
	GOOS=linux GOARCH=$(GOARCH) $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $@/bin/ ./cmd/hostlerd ./cmd/hostler ./cmd/hostler-updater ./cmd/hostler-console
	GOOS=linux GOARCH=$(GOARCH) $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $@/bin/plugins/ $(PLUGINS:%=./cmd/%)
	@if [ $(GOARCH) = "$$($(GO) env GOHOSTARCH)" ]; then cp $@/bin/hostlerd $@/bin/hostler $@/bin/hostler-updater $@-commands/; \
	else GOARCH= $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@-commands/ ./cmd/hostlerd ./cmd/hostler ./cmd/hostler-updater; fi
	@chmod 755 $@/bin/hostlerd $@/bin/hostler $@/bin/hostler-updater $@/bin/hostler-console $(PLUGINS:%=$@/bin/plugins/%)
	@echo $(VERSION) > $@/VERSION

release-tarball: release-tree
	@set -e; version=$$(cat $(RELEASE)/$(GOARCH)/VERSION); out=$(BIN)/hostler-$$version-linux-$(GOARCH).tar.gz; rm -f $$out; \
	$(GO) run ./cmd/hostler-sign pack $(RELEASE)/$(GOARCH) $$out

deb: release-tree
	@GOARCH=$(GOARCH) $(PACKAGING)/build-deb $(RELEASE)/$(GOARCH) $(BIN)

deb-check:
	@.ci/deps deb
	@$(PACKAGING)/check-deb '$(GIVEN_VERSION)'

# The whole life of an installation on a Debian that is created for it: install, update, roll back, kill, remove, purge.
package-test:
	@.ci/deps boot
	@mkdir -p $(BIN)/boot-check
	@$(GO) build -o $(BIN)/boot-check/ ./$(PACKAGING)/boot-check
	@$(BIN)/boot-check/boot-check --bin $(BIN)

# CONTRACT_PARTS: lint, clients, fuzz, or none for all of them.
contract: build $(OAPI_CODEGEN)
	@.ci/deps contract
	@tools=$$(python3 $(CONTRACT)/tools.py $(CACHE)) && \
		python3 $(CONTRACT)/check.py --bin $(BIN) --tools $$tools --oapi-codegen $(OAPI_CODEGEN) $(CONTRACT_PARTS)

# Additional tools of make contract, which it installs if they are missing.
contract-tools: $(OAPI_CODEGEN)
	@.ci/deps contract
	@python3 $(CONTRACT)/tools.py $(CACHE)

# MkDocs is installed from PyPI into the cache at first use; building and reading the site needs no network.
docs: docs-tools
	@CACHE='$(CACHE)' .ci/docs $(BIN)/docs

docs-tools:
	@.ci/deps docs
	@CACHE='$(CACHE)' .ci/docs install

# Packages of the page's tools. No package runs code during its installation.
ui-tools: $(UI)/node_modules/.installed

$(UI)/node_modules/.installed: $(UI)/package-lock.json
	@.ci/deps ui
	@cd $(UI) && $(NODE_PATH) npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

ui: core/ui/dist/index.html

# A change of any Go file can change the document, so the program that prints it always runs. The file is only written when it differs.
$(UI)/openapi.json: FORCE
	@set -e; new=$$(mktemp $@.XXXXXX); trap 'rm -f "$$new"' EXIT; \
	GOOS= GOARCH= CGO_ENABLED=0 $(GO) run $(COMPILE) ./core/api/openapi >"$$new"; cmp -s "$$new" $@ || mv "$$new" $@

# operations.ts is the second of the two files that this writes.
$(UI)/src/api/operations.ts: $(UI)/openapi.json $(UI)/generate.ts $(UI)/node_modules/.installed
	@cd $(UI) && $(NODE_PATH) npm run -s types

# Several makes may build the page at the same time. index.html is moved last, so that a killed build starts over.
core/ui/dist/index.html: $(UI)/src/api/operations.ts $(PAGE_SOURCES)
	@echo "building the web page"
	@cd $(UI) && exec 9>node_modules/.building && flock 9 && $(NODE_PATH) npm run -s build && rm -rf ../dist/* && \
		find built -mindepth 1 -maxdepth 1 ! -name index.html -exec mv -t ../dist {} + && mv built/index.html ../dist

ui-check: $(UI)/src/api/operations.ts
	cd $(UI) && export $(NODE_PATH) && npm run -s check && npm run -s lint

ui-dev: $(UI)/src/api/operations.ts
	cd $(UI) && $(NODE_PATH) npm run -s dev

# The browser tests of every change: the tests of the kit, logging in, and starting a VM and reading its transcript.
ui-smoke: build
	@.ci/deps browser
	cd $(UI) && export $(NODE_PATH) && npm run -s kit && npm run -s journeys 01-first-owner 04-start-and-stop

# UI_TESTS: unit, kit, journeys, or none for all. HOSTLER_PICTURES names a folder for pictures of every page.
ui-test: UI_TESTS ?= unit kit journeys
ui-test: build
	@.ci/deps browser
	@set -e; cd $(UI); export $(NODE_PATH); for part in $(UI_TESTS); do npm run -s $$part; done

# Whole programs first, then their parts; one package at a time, so that they do not disturb each other.
bench: deps
	$(GO) test -run '^$$' -bench . -benchtime 5x ./cmd/hostlerd/processtest/ ./cmd/hostlerd/pvegolden/
	$(GO) test -p 1 -run '^$$' -bench . ./core/plugin/ ./core/poll/ ./core/job/ ./core/api/... ./core/identity/ ./core/secret/ ./core/audit/ ./core/activity/ ./core/search/ ./core/metric/ ./core/alert/ ./core/feed/ ./core/cluster/ ./core/backup/ ./core/catalog/ ./plugins/...

# The same flags as make build, so that dependencies are compiled only once.
lint: export CGO_ENABLED = 0
lint: export GOFLAGS = $(SHARED)
lint: $(STATICCHECK) $(BUF)
	@.ci/deps lint
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "not formatted:"; echo "$$unformatted"; exit 1; }
	@long=$$(git ls-files '*.go' ':!*.pb.go' ':!*.gen.go' | LC_ALL=C.UTF-8 xargs grep -nE '^.{140,}$$' | grep -vE '`[a-z]+:"'); [ -z "$$long" ] || \
		{ echo "lines of 140 columns or more (allowed only with a struct tag, which cannot be split):"; echo "$$long"; exit 1; }
	$(GO) vet $(COMPILE) ./...
	$(STATICCHECK) ./...
	$(BUF) lint
	@$(MAKE) -s breaking
	shellcheck -x $(SCRIPTS)
	@$(PACKAGING)/changes >/dev/null
	$(GO) mod tidy -diff
	@set -e; for dir in $(EXAMPLES); do echo "$$dir"; (cd $$dir && $(GO) vet ./... && $(STATICCHECK) ./... && $(GO) mod tidy -diff); done

# The plugin interface and the API must not break for their users: they are compared with the newest release.
.PHONY: breaking
breaking: export CGO_ENABLED = 0
breaking: export GOFLAGS = $(SHARED)
breaking: $(BUF) $(OASDIFF)
	@.ci/breaking $(BUF) $(OASDIFF)

proto: $(BUF) $(PROTOC_GEN_GO) $(PROTOC_GEN_GO_GRPC)
	PATH="$(dir $(PROTOC_GEN_GO)):$(dir $(PROTOC_GEN_GO_GRPC)):$$PATH" $(BUF) generate

# Compiles like make lint, which also vets these packages. GENERATE names packages; all of them by default.
generate: export CGO_ENABLED = 0
generate: export GOFLAGS = $(SHARED) -vet=off
generate: export OAPI_CODEGEN := $(OAPI_CODEGEN)
generate: $(OAPI_CODEGEN)
	@.ci/deps run
	$(GO) generate $(or $(GENERATE),./...)

# Programs that make lint, make proto and make generate run.
tools: $(STATICCHECK) $(BUF) $(OASDIFF) $(OAPI_CODEGEN) $(PROTOC_GEN_GO) $(PROTOC_GEN_GO_GRPC)

deps:
	@.ci/deps

deps-run:
	@.ci/deps run

# install PACKAGE@VERSION: renames the program to the target in one step, because another checkout may install it at the same time.
define install
	@mkdir -p $(dir $@)
	@set -e; new=$$(mktemp -d $(dir $@)new.XXXXXX); trap 'rm -rf "$$new"' EXIT; echo "installing $(1)"; \
	GOBIN=$$new $(GO) install $(1); mv -f "$$new"/* $@
endef

$(STATICCHECK):
	$(call install,honnef.co/go/tools/cmd/staticcheck@v0.8.2)

$(OAPI_CODEGEN):
	$(call install,github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2)

$(BUF):
	$(call install,github.com/bufbuild/buf/cmd/buf@v1.57.2)

$(OASDIFF):
	$(call install,github.com/oasdiff/oasdiff@v1.38.0)

$(PROTOC_GEN_GO):
	$(call install,google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12)

$(PROTOC_GEN_GO_GRPC):
	$(call install,google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2)

clean:
	rm -rf $(BIN)
