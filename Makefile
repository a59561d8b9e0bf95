# What one does with this project. `make` alone lists the targets.
#
# Downloads (pinned tools, Kafka for the real tests) go to $(SLUICE_CACHE), outside the tree; deleting it costs
# one download.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

export SLUICE_CACHE ?= $(HOME)/.cache/sluice

VERSION ?= $(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo v0.0.0-dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# The race detector needs cgo, and cgo a C compiler that can link; without one the tests run without it.
RACE = $(shell tools/race.sh)

# Tests behind build tags are vetted and linted too.
TAGS := real,soak

.PHONY: help build demo test test-real check bench bench-compare soak clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/sluice, one static binary
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/sluice ./cmd/sluice

demo: build ## the whole system in one process, on an embedded Kafka
	bin/sluice demo

test: ## tests that need Go alone, with the race detector where a C compiler is there
	$(if $(RACE),CGO_ENABLED=1 )go test $(RACE) -timeout 5m ./...

# Packages that have such tests, one at a time: they start brokers, kill them and measure rates, and would disturb each other.
test-real: ## test, and the tests on a real Kafka (needs java and mvn; downloads Kafka once)
	$(MAKE) --no-print-directory test
	go run ./test/kafkatest/cmd/kafka-up -fetch
	go test -tags real -count 1 -p 1 -v -timeout 40m $$(tools/tagged.sh real)

check: ## static checks: format, vet, lint, import directions, docs, stale tables, go.mod
	tools/check.sh $(TAGS)

bench: ## measure (35 minutes), into docs/bench.json and docs/PERFORMANCE.md; ARGS='-only latency' for some
	go run ./test/bench -record docs/bench.json -page docs/PERFORMANCE.md $(ARGS)

bench-compare: ## measure and show what became slower than docs/bench.json; ARGS='-only throughput -scale 0.3'
	go run ./test/bench -compare docs/bench.json $(ARGS)

# What the soak runs; make soak SOAK=TestTenMinutesAway runs that alone.
SOAK ?= TestKillsAndRebalancesLoseNothing|TestBrokersThatMoveAndHangLoseNothing|TestABadNetworkLosesNothing|TestTenMinutesAway|TestARecordThatKillsTheFunctionOnRealKafka|TestHalfAMillionRecordsAtFullSpeed|TestSuiteOnOtherVersions|TestMemoryIsWhatTheFormulaSays

soak: ## bad days at full scale on a real Kafka (45 minutes); WRITE=1 enters the results in docs/RELIABILITY.md
	go run ./test/kafkatest/cmd/kafka-up -fetch
	$(if $(WRITE),SLUICE_SOAK_WRITE='$(CURDIR)/docs/RELIABILITY.md' )go test -tags 'real soak' -count 1 -p 1 -v -timeout 60m \
		-run '^($(SOAK))$$' $$(tools/tagged.sh soak)

clean: ## remove what make built
	rm -rf bin
