# What one types. Everything runs in the module's root; tests that need root, Mininet or data say what they skip.
GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help build install test lint vulnerable rooms race ci long faults storm bench cover fmt packages

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

# A smaller program for less processor time: without DWARF, which debuggers alone read, without cgo, without gRPC's
# pages of traces, and by compilers that run on one processor each, as many as there are, and collect their garbage
# rarely. Calls are inlined in our packages and in those of the standard library that inner loops use. An instance of
# a generic function is compiled wherever it is used, and any of these copies is linked: so all of ours are inlined.
# `go build ./cmd/lightloom` works, too.
INLINED := lightloom/... bufio bytes cmp compress/... container/... encoding/binary hash/... internal/... io iter maps \
  math/... reflect runtime/... slices sort strconv strings sync/... time unicode/...
SPARE := CGO_ENABLED=0 GOGC=400 GOMAXPROCS=1
SMALL := -p $(shell getconf _NPROCESSORS_ONLN) -tags grpcnotrace -ldflags='-s -w -funcalign=16' \
  -gcflags='all=-dwarf=false -l' $(INLINED:%=-gcflags=%=-dwarf=false)
OUT := lightloom

build: ## build ./lightloom, or OUT=FILE
	@$(SPARE) go build $(SMALL) -o $(OUT) ./cmd/lightloom

install: ## build it and put it where go install does
	@$(SPARE) go install $(SMALL) ./cmd/lightloom

test: ## run all tests
	go test ./...

lint: ## check go.mod, format, imports, comments and likely mistakes
	go mod tidy -diff
	$(GOLANGCI) run ./...

vulnerable: ## look for known vulnerabilities that the program reaches, where their database can be asked
	.ci/vulnerable

rooms: ## list calls up between files, and small packages with one importer, for a reader to judge
	go run ./.ci/rooms

race: ## run the short tests of what is concurrent under the race detector (needs cgo)
	CGO_ENABLED=1 go test -race -short ./controller/... ./southbound/... ./emulator/...

ci: ## run all that CI does, on a machine with nothing but Go and root
	.ci/run

long: ## run what takes longer than CI: all random cases, everything under the race detector, all measurements
	.ci/long

faults: ## check what survives which faults: the short suite, a few minutes
	go test -count=1 ./controller/replica/... ./controller/leader ./controller/loop ./lab/e2e/chaos
	go test -count=1 -run 'Outlive|GoesOn|UnderLoad' ./lab/e2e/up

storm: ## check the same with 1,000 seeds of ten minutes, 200 kills, a million jobs and so on: half a day
	LIGHTLOOM_MEASURE=seeds go test -count=1 -timeout 3h -run 'TestSeeds$$' ./lab/e2e/chaos
	LIGHTLOOM_LONG=1 go test -count=1 -timeout 60m ./controller/replica/... ./controller/leader ./controller/loop \
	  ./lab/e2e/chaos
	LIGHTLOOM_MEASURE=kills go test -count=1 -v -timeout 60m -run UnderLoad ./lab/e2e/up
	for what in soak stops power fuzz elections reign; do LIGHTLOOM_MEASURE=$$what go test -count=1 -v -timeout 60m \
	  -run 'TestProcessesAreLinearizable|TestStaleSets|TestPowerLoss|TestFuzzedAnswers|TestSpuriousElections|TestFirstSet' \
	  ./lab/e2e/cluster ./lab/e2e/mixed || exit 1; done
	LIGHTLOOM_MEASURE=large go test -count=1 -v -timeout 20m -run TestLargestJobs ./lab/e2e/cluster
	LIGHTLOOM_MEASURE=sockets go test -count=1 -p 1 -v -timeout 20m -run Silent ./controller/api ./controller/replica
	LIGHTLOOM_MEASURE=history go test -count=1 -v -timeout 80m -run TestBoundedMeasured ./controller/server

bench: ## run the benchmarks of one package: make bench PKG=./pathmap/live
	go test -run '^$$' -bench . -benchmem $(PKG)

cover: ## write the statement coverage of all tests to cover.html
	go test -coverpkg=./... -coverprofile=cover.out ./... && go tool cover -html=cover.out -o cover.html

packages: ## build deb, rpm, apk, archive, SBOM and checksums into dist/
	packaging/build dist

fmt: ## format all Go files
	$(GOLANGCI) fmt ./...
