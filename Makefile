# What one does with the source of lockcheck: make help lists it. Needs Go; the
# images, test-all and ci need Docker, too.

GO ?= go
# Of images: make image IMAGE=registry.example/lockcheck:0.1.0 BASE=debian:12-slim
VERSION := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' internal/harness/plan.go)
REVISION := $(shell git rev-parse HEAD 2>/dev/null)
IMAGE ?= lockcheck:$(VERSION)
BASE ?= debian:bookworm-slim
TOOL = $(GO) tool -modfile=tools/go.mod

.PHONY: help build install test test-all ci lint fmt generate base-image image release clean

help: ## this list
	@echo 'lockcheck $(VERSION): what make does'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

build: ## ./lockcheck, the command
	$(GO) build -o lockcheck ./cmd/lockcheck

install: ## the command, to where go install puts it
	$(GO) install ./cmd/lockcheck

test: ## the tests, most of them without Docker
	$(GO) test ./...

test-all: ## all tests, with real servers
	LOCKCHECK_TESTS=all $(GO) test -p 1 -timeout 40m ./...

ci: ## all that has to hold before a change lands
	bash .ci/run

lint: ## what is not as it should be: vet, staticcheck, format
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	@out=$$($(TOOL) gofumpt -l .) && [ -z "$$out" ] || { echo "$$out"; exit 1; }

fmt: ## format the source
	$(TOOL) gofumpt -w .

generate: ## write pages and tables anew that are made from the code
	$(GO) test ./docs ./internal/suite -update

base-image: ## debian:bookworm-slim, where there is no registry
	tools/base-image

image: ## lockcheck in an image: IMAGE=NAME:TAG, on BASE=IMAGE
	mkdir -p dist/image
	CGO_ENABLED=0 GOOS=linux GOARCH=$$($(GO) env GOARCH) $(GO) build -trimpath -o dist/image/lockcheck ./cmd/lockcheck
	docker build -f deploy/kubernetes/Dockerfile --build-arg BASE=$(BASE) \
	  --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) -t $(IMAGE) dist/image

release: ## archives for all systems and their checksums, in dist/
	$(GO) run ./cmd/release

clean: ## remove what was made here (of Docker: lockcheck clean)
	rm -rf lockcheck dist lockcheck-out
