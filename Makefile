# Sluice: the commands a person types. Each one installs what it needs, builds what changed and says
# what it does; cmake/ and CMakePresets.json hold how things are built.
.DEFAULT_GOAL := help
.PHONY: help run build test check bench bench-full asan tsan fuzz crash format rocksdb install deb clean

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
CRASH_ROUNDS ?= 200
RUN_DATA ?= build/run-data
PREFIX ?= /usr/local
CTEST = ctest --output-on-failure -j $(JOBS)
BUILD = cmake --build build/$(1) -j $(JOBS)

# ThreadSanitizer can't run under every kernel's address randomisation; some containers forbid
# switching that off, and there it has to work as it is.
NO_ASLR = $(shell setarch -R true 2>/dev/null && echo setarch -R)
TSAN = TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp history_size=7 halt_on_error=1" $(NO_ASLR)

help: ## This list
	@echo "Sluice: make TARGET"
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

# A build tree is configured once; after that ninja runs CMake again by itself when it must. The
# optimised RocksDB is looked for at configure time, so its arrival counts as a change too.
build/%/build.ninja: CMakePresets.json $(wildcard build/deps/rocksdb/lib/librocksdb.a)
	cmake --preset $*
	@touch $@

DEPS = deps-build deps-test deps-bench deps-fuzz deps-package
.PHONY: $(DEPS)
$(DEPS): deps-%:
	@scripts/deps.sh $*

run: build ## Start the example app on the default ports; data is kept in build/run-data
	@echo "Starting examples/shop: admin REST on 8091, Eventing REST on 8096, flows on 8100."
	@echo "Data directory: $(RUN_DATA) (delete it to start afresh). Stop with Ctrl-C."
	@echo "Try: curl localhost:8091/v1/docs/shop.inventory.items/item::1"
	build/sluice serve --data $(RUN_DATA) --dev examples/shop

build: deps-build build/release/build.ninja ## Build the server: build/sluice
	@$(call BUILD,release) --target sluice_binary
	@echo "built: build/sluice"

# The server is tested as it ships; the unit tests run where they find most, under sanitizers.
test: deps-test build/release/build.ninja build/asan/build.ninja build/tsan/build.ninja ## All tests: the server's, and the unit tests under sanitizers
	$(call BUILD,release) --target blackbox_tests
	$(call BUILD,asan) --target unit_tests
	$(call BUILD,tsan) --target threaded_tests
	cd build/asan && $(CTEST) -L 'unit|fuzz|stress'
	cd build/tsan && $(TSAN) $(CTEST) -L threaded
	cd build/release && $(CTEST) -L 'blackbox|style|toolchain'

check: deps-test build/release/build.ninja ## All tests of the release build only, without sanitizers
	$(call BUILD,release)
	cd build/release && $(CTEST)

asan: deps-test build/asan/build.ninja ## All tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call BUILD,asan)
	cd build/asan && $(CTEST) -LE style

tsan: deps-test build/tsan/build.ninja ## All unit tests under ThreadSanitizer
	$(call BUILD,tsan) --target unit_tests
	cd build/tsan && $(TSAN) $(CTEST) -L unit

fuzz: deps-fuzz build/fuzz/build.ninja ## Fuzz every target for FUZZ_SECONDS (60) each
	$(call BUILD,fuzz) --target fuzzers
	scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

bench: deps-bench build ## Benchmarks against their yardsticks, under ten minutes; writes build/bench.json
	$(call BUILD,release) --target bench
	bench/run

bench-full: deps-bench build ## The same at full length
	$(call BUILD,release) --target bench
	bench/run --full

crash: deps-test build ## Kill the server CRASH_ROUNDS (200) times under load and check every promise
	tests/crash/run_crash.py --sluice build/sluice --rounds $(CRASH_ROUNDS)
	tests/crash/run_function_crash.py --sluice build/sluice --rounds $(CRASH_ROUNDS)
	tests/crash/run_trigger_crash.py --sluice build/sluice --rounds $(CRASH_ROUNDS)
	tests/crash/run_shard_crash.py --sluice build/sluice --rounds $(CRASH_ROUNDS)
	tests/crash/run_flow_crash.py --sluice build/sluice --rounds $(CRASH_ROUNDS)
	tests/crash/run_flow_start_crash.py --sluice build/sluice --rounds $(CRASH_ROUNDS)
	tests/crash/run_type_crash.py --sluice build/sluice --rounds $(CRASH_ROUNDS)
	@$(call BUILD,release) --target cursor_worker
	tests/crash/run_cursor_crash.py --worker build/release/cursor_worker --rounds $(CRASH_ROUNDS)

rocksdb: ## Build an optimised RocksDB once (15 to 45 minutes); later builds use it
	JOBS=$(JOBS) scripts/rocksdb.sh

install: build ## Install the server to PREFIX (/usr/local), its settings to /etc/sluice.yaml
	cmake --install build/release --prefix $(PREFIX) --strip > build/release/install.log
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/sluice. Try: sluice serve --dev"

deb: deps-package build ## Make a Debian package in build/
	@cd build/release && cpack -B $(CURDIR)/build/package > package.log || { cat package.log; exit 1; }
	@mv build/package/*.deb build/ && echo "made: $$(ls -t build/*.deb | head -1)"

format: ## Format the C++ sources
	@find src tests bench -name '*.cc' -o -name '*.h' | xargs -r clang-format -i

clean: ## Remove what builds made; fetched and built dependencies stay
	rm -rf build/release build/dev build/asan build/tsan build/fuzz build/sluice build/bench.json build/package build/*.deb
