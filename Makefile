# make demo    build warp and run it on its embedded store
# make build   ./warp
# make test    every test that needs nothing to be built but warp
# make test-stores  the tests against real stores and receivers (these are built once, into the user's cache)
# make check   formatting, vet, staticcheck
# make cross   ./dist, one binary per platform
# make bench   warp's cost above that of bare sockets: a table of ratios
# make gobench Go benchmarks
# make packages  archives, deb, rpm, an OCI image, bills of materials and checksums in ./dist/packages
# make site    the documentation as static pages in ./dist/site (needs Python 3)
# make fuzz    every fuzz target for a while (FUZZTIME)
# make stores  build the stores and receivers that the tests need, and nothing else
# make clean   remove what build and cross made

.DEFAULT_GOAL := build
SHELL := /bin/sh

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOTESTSUM   := gotest.tools/gotestsum@v1.13.0
NFPM        ?= $(GO) run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4
PLATFORMS   := linux/amd64 linux/arm64 darwin/arm64 windows/amd64
FUZZTIME    ?= 20s
TESTFLAGS   ?=
PACKAGES    ?= ./...
# test/ is a module of its own, which ./... leaves out.
TEST_PACKAGES ?= ./...
# The packages whose tests use real stores, of warp and of test/.
STORE_TESTS := ./pkg/bench ./pkg/bench/ops ./pkg/sink ./pkg/store/gcs ./pkg/store/azure $(addprefix ./internal/,teststore standin)
TEST_STORE_TESTS := $(addprefix ./,conformance distributed doctest kubetest monitored packagetest safety)
BENCHTIME   ?= 1s

# Everything is compiled with the same flags, so that all targets and the binaries that tests build share the build cache.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
# A clone knows its tag. Without one, and in a source archive, the version is older than any release.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null || echo 0.0.0-dev$$(git describe --always --dirty --exclude='*' --abbrev=12 2>/dev/null | sed 's/^/+/'))
# Debian packages name a maintainer: whoever publishes them.
MAINTAINER ?= The warp authors
# The commit's own date makes the same commit give the same binary, wherever it is built.
DATE    ?= $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || date -u +%Y-%m-%dT%H:%M:%SZ)
LDFLAGS := -s -w -X 'warp/cli.version=$(VERSION)' -X 'warp/cli.commit=$(COMMIT)' -X 'warp/cli.date=$(DATE)'
BUILD   := CGO_ENABLED=0 $(GO) build -buildvcs=false -ldflags "$(LDFLAGS)"

.PHONY: build demo test test-stores other-packages other-test-packages stores check fmt cross bench gobench fuzz site binaries packages clean

build:
	$(BUILD) -o warp .

# Small objects, because a mixed run uploads more than it deletes and the embedded store lives in memory: even
# a machine ten times as fast as a laptop stays below its limit.
demo: build
	./warp mixed --host=embedded --obj.size=8KiB --objects=1000 --concurrent=8 --duration=10s

stores:
	$(GO) run ./internal/teststore/build

# Without cgo, as in make build; only the race detector needs it. vet is part of make check. With RERUN=2, a test that fails is
# run up to twice more, and the output names it: a machine that stops for seconds must not decide whether a change lands.
# Data races are never tried again.
go_test = $(if $(findstring -race,$(1)),,CGO_ENABLED=0) \
	$(if $(RERUN),$(GO) run $(GOTESTSUM) --format=standard-quiet --hide-summary=skipped --rerun-fails=$(RERUN) --rerun-fails-run-root-test \
		--rerun-fails-abort-on-data-race --packages='$(2)' -- -vet=off $(1),$(GO) test -vet=off $(1) $(2))

# Tests that need nothing to be built but warp. What measures time or memory is called TestMeasured…, skips itself under
# the race detector, and runs alone, in test-stores.
# go test's cache does not see files outside of a module, such as the documentation that tests in test/ read: hence -count=1.
test:
	$(call go_test,$(TESTFLAGS) -skip '^TestMeasured' -timeout 20m,$(PACKAGES))
	cd test && $(call go_test,-count=1 $(TESTFLAGS) -skip '^TestMeasured' -timeout 20m,$(TEST_PACKAGES))
	@echo "Left out: tests with $$(CGO_ENABLED=0 $(GO) run ./internal/teststore/build -list). make test-stores builds them, once, and runs these tests."

# All tests of the packages that use real stores. The packages run one after another, since several stores and
# measurements at once would disturb each other on a small machine. No result comes from go test's cache, which does not
# see the binaries that tests build.
test-stores: stores
	export WARP_TEST_STORES=1; $(call go_test,-count=1 -race -p 1 -timeout 20m,$(STORE_TESTS))
	cd test && export WARP_TEST_STORES=1 && $(call go_test,-count=1 -race -p 1 -timeout 20m,$(TEST_STORE_TESTS))
	$(call go_test,-count=1 -p 1 -timeout 10m -run '^TestMeasured',./...)
	cd test && $(call go_test,-count=1 -p 1 -timeout 10m -run '^TestMeasured',./...)

# The packages that test-stores leaves out, for CI, which need not run any of them twice.
other-packages:
	@$(GO) list ./... | grep -vxF "$$($(GO) list $(STORE_TESTS))"

other-test-packages:
	@cd test && $(GO) list ./... | grep -vxF "$$($(GO) list $(TEST_STORE_TESTS))"

check:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi
	CGO_ENABLED=0 $(GO) vet ./...
	cd test && CGO_ENABLED=0 $(GO) vet ./...
	CGO_ENABLED=0 $(GO) run $(STATICCHECK) ./...
	cd test && CGO_ENABLED=0 $(GO) run $(STATICCHECK) ./...

fmt:
	gofmt -w .

binaries:
	@set -e; for p in $(PLATFORMS); do \
		os=$${p%/*}; arch=$${p#*/}; out=dist/warp-$$os-$$arch; \
		if [ $$os = windows ]; then out=$$out.exe; fi; \
		echo "building $$out"; GOOS=$$os GOARCH=$$arch $(BUILD) -o $$out .; \
	done

cross: binaries
	@set -e; for p in $(PLATFORMS); do GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) vet ./... && (cd test && GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) vet ./...); done

# The same commit gives the same bytes on the same machine. Nothing is published.
packages: build binaries
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && CGO_ENABLED=0 $(GO) build -C test -o "$$dir" ./release && \
		"$$dir/release" -version '$(VERSION)' -date '$(DATE)' -maintainer '$(MAINTAINER)' -nfpm '$(NFPM)'

# What warp costs a client above the floor of what sockets cost, against a null store in a process of its own;
# BENCHFLAGS="-n 1 -d 1s -only=GET" for less of it.
bench: build
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
		CGO_ENABLED=0 $(GO) build -C test -o "$$dir" ./floor ./nullstore && \
		"$$dir/floor" ratios -warp ./warp -nullstore "$$dir/nullstore" $(BENCHFLAGS)

gobench:
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...
	cd test && $(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

# go test fuzzes one target of one package at a time.
fuzz:
	@set -e; for module in . test; do (cd $$module; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done); done

# Broken links, also to headings, and pages that the navigation lacks are errors.
site:
	@test -x dist/site-tools/bin/mkdocs || { python3 -m venv dist/site-tools && \
		dist/site-tools/bin/pip install --quiet --disable-pip-version-check -r site/requirements.txt; }
	dist/site-tools/bin/mkdocs build --strict -f site/mkdocs.yml
	@echo "dist/site/index.html"

clean:
	rm -rf warp warp.exe dist
