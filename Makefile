# SPDX-License-Identifier: Apache-2.0
# One file, non-recursive. Products go to build/ (build/san/ with SAN=1), nothing is generated beside the sources. For another machine:
#
#	make CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=DIR BUILD=build/arm64	headers and libraries are those below DIR
#
#	bpf → skeleton ┐
#	libpprof ──────┼→ module archives → xagent → tests
#	libriver ──────┘

.DELETE_ON_ERROR:
.SUFFIXES:
# Products of a chain of rules are kept, else the second make would build them again.
.SECONDARY:
.DEFAULT_GOAL := all

# ---- settings -------------------------------------------------------------------------------------------------------------------
# The only place that decides; tests/lint/docs.sh finds those that repeat it.
VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PYTHON ?= /usr/bin/python3
PROTOC_C ?= protoc-c
JOBS ?= $(shell nproc)
# For a make within make: as many jobs as the machine has CPUs, unless whoever called has said how many.
parallel = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# Of another machine's compiler and binutils the names begin with this.
CROSS_COMPILE :=
# Where that machine's headers and libraries are, as below its root; nothing of this machine's is used.
SYSROOT :=
ifneq ($(CROSS_COMPILE),)
CC := $(CROSS_COMPILE)gcc
AR := $(CROSS_COMPILE)ar
endif

ifeq ($(V),1)
Q :=
msg = @:
else
Q := @
msg = @printf '  %-8s %s\n' "$(1)" "$(2)"
endif

ifeq ($(SAN),1)
BUILD := build/san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT := -O1 -g
else
BUILD := build
SANFLAGS :=
OPT := -O2 -g
endif
ifeq ($(DEBUG),1)
OPT := -O0 -g3
endif
# What does not depend on the settings but on the machine: generated sources, the kernel half.
BASE := $(if $(CROSS_COMPILE),$(BUILD),build)
GEN := $(BASE)/gen
export PYTHONDONTWRITEBYTECODE := 1

# The machine's name as libbpf's headers know it.
ARCH := $(shell $(CC) -dumpmachine | sed 's/-.*//; s/x86_64/x86/; s/aarch64/arm64/')
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef
ifneq ($(CI),)
WARNINGS += -Werror
endif
IN_SYSROOT := $(if $(SYSROOT),--sysroot=$(SYSROOT))

# ---- hardening: all of it is said here, so that it is the same whatever a distribution's compiler does by itself ------------------------
# What is asked for by a probe is not known to every compiler or not made for every machine. Not -ftrivial-auto-var-init: building the
# unwind tables of a large file takes 12 % longer with it.
cc_has = $(shell $(CC) $(IN_SYSROOT) -Werror -O1 $(1) -x c -S -o /dev/null /dev/null >/dev/null 2>&1 && echo '$(1)')
# Level 3 needs gcc 12 or clang 9, and glibc 2.34.
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(if $(call cc_has,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -include features.h),3,2)
HARDEN := -fPIE -fstack-protector-strong \
	  $(foreach option,-fstack-clash-protection -fcf-protection=full -mbranch-protection=standard,$(call cc_has,$(option)))
HARDEN_LD := -pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code
# Fortified functions are checks of the C library, which ASan would not see through; without optimization there are none.
fortify = $(if $(SANFLAGS)$(filter -O0,$(OPT) $(CFLAGS)),,$(FORTIFY))

# CPPFLAGS, CFLAGS and LDFLAGS are the caller's, by environment or argument; they come last, so that they add to ours and win.
our_cppflags = -D_GNU_SOURCE -I. -I$(GEN)
our_cflags = $(IN_SYSROOT) -std=gnu17 $(OPT) -fno-common -fvisibility=hidden -ffunction-sections -fdata-sections $(HARDEN) $(fortify) $(SANFLAGS)
COMPILE = $(CC) $(our_cppflags) $(our_cflags) $(WARNINGS) $(CPPFLAGS) $(CFLAGS)
COMPILE_GENERATED = $(CC) $(our_cppflags) $(our_cflags) -w $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(our_cflags) $(SANFLAGS) $(HARDEN_LD) -Wl,--gc-sections $(CFLAGS) $(LDFLAGS)
LIBS := -lbpf -ldw -lelf -lcurl -lcares -lmicrohttpd -lnghttp2 -lgnutls -ljansson -lyaml -lpcre2-8 -lunistring -lprotobuf-c -lz -lzstd -llzma -liberty -lpthread -lm

# ---- modules: each archive, and the modules below it in link order -----------------------------------------------------------------
util_deps :=
telemetry_deps := util
object_deps := util
process_deps := telemetry util
http_deps := telemetry util
push_deps := http telemetry util
sample_deps := telemetry util
unwind_deps := object process telemetry util
dwarf_deps := object telemetry util
symbol_deps := dwarf object process telemetry util
target_deps := process telemetry util
discovery_deps := target http $(target_deps) river
encode_deps := target $(target_deps) pprof
store_deps := push http encode $(encode_deps)
receive_deps := store $(store_deps)
page_deps := util
runtimes_deps := object process telemetry util
profile_deps := encode sample runtimes unwind symbol dwarf target object http process telemetry util pprof
draw_deps := page store push profile $(profile_deps)
scrape_deps := store push http encode $(encode_deps)
component_deps := receive scrape discovery store push profile $(profile_deps) river
cli_deps := draw page component $(component_deps)
pprof_deps :=
river_deps :=
MODULES := util telemetry object process http push sample runtimes unwind dwarf symbol target discovery encode profile store receive scrape page draw component cli

srcdir_of = $(if $(filter pprof,$(1)),pprof,$(if $(filter river,$(1)),river-config,agent/$(1)))
sources_of = $(wildcard $(call srcdir_of,$(1))/*.c $(call srcdir_of,$(1))/*/*.c)
archive_of = $(BUILD)/lib$(1).a
archives_of = $(foreach m,$(1),$(call archive_of,$(m)))

GEN_pprof := pprof/profile.pb-c
GEN_encode := agent/encode/otlp.pb-c
GEN_push := agent/push/push.pb-c agent/push/otlp_request.pb-c
GEN_store := agent/store/api/querier.pb-c agent/store/api/tenant.pb-c
objects_of = $(patsubst %.c,$(BUILD)/%.o,$(call sources_of,$(1))) $(patsubst %,$(BUILD)/gen/%.o,$(GEN_$(1)))

ALL_LIBS := pprof river $(MODULES)

# ---- the program -------------------------------------------------------------------------------------------------------------------
.PHONY: all
all: $(BUILD)/xagent ## build the agent

$(BUILD)/xagent: $(BUILD)/agent/main.o $(call archives_of,cli $(cli_deps))
	$(call msg,LINK,$@)
	$(Q)$(LINK) -o $@ $(BUILD)/agent/main.o $(call archives_of,cli $(cli_deps)) $(LIBS)

define archive_rule
$(call archive_of,$(1)): $(call objects_of,$(1))
	$$(call msg,AR,$$@)
	$$(Q)rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach m,$(ALL_LIBS),$(eval $(call archive_rule,$(m))))

# What is compiled otherwise is compiled anew. Warnings are not in it, nor which compiler it is.
.PHONY: FORCE
$(BUILD)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' '$(our_cppflags) $(our_cflags) $(CPPFLAGS) $(CFLAGS)' | cmp -s - $@ || \
		printf '%s\n' '$(our_cppflags) $(our_cflags) $(CPPFLAGS) $(CFLAGS)' > $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) $(cflags_of_target) -MMD -MP -c $< -o $@

# Generated code is compiled as it comes: our warnings are not its author's.
$(BUILD)/gen/%.o: $(GEN)/%.c $(BUILD)/flags
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE_GENERATED) -MMD -MP -c $< -o $@

# The files of the page lie in an object as they are.
$(BUILD)/agent/page/files.o: $(wildcard agent/page/*.html agent/page/*.css agent/page/*.js agent/page/*.svg)

# ---- generated sources -------------------------------------------------------------------------------------------------------------
$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h: %.proto
	$(call msg,PROTOC,$<)
	$(Q)mkdir -p $(GEN)
	$(Q)$(PROTOC_C) --c_out=$(GEN) $<

$(GEN)/agent/version.h: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)printf '/* SPDX-License-Identifier: Apache-2.0 */\n#define XAGENT_VERSION "%s"\n' '$(VERSION)' > $@.new
	$(Q)cmp -s $@.new $@ && rm $@.new || mv $@.new $@

GENERATED := $(foreach m,$(ALL_LIBS),$(patsubst %,$(GEN)/%.h,$(GEN_$(m)))) $(GEN)/agent/version.h $(GEN)/bpf/sample.skel.h $(GEN)/bpf/waiting.skel.h
ALL_OBJECTS := $(foreach m,$(ALL_LIBS),$(call objects_of,$(m))) $(BUILD)/agent/main.o
$(ALL_OBJECTS): | $(GENERATED)

# ---- the kernel half -----------------------------------------------------------------------------------------------------------------
BPF_CFLAGS := -O2 -g -Wall -Wextra -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -I. $(IN_SYSROOT) $(if $(MULTIARCH),-I$(SYSROOT)/usr/include/$(MULTIARCH))
ifneq ($(CI),)
BPF_CFLAGS += -Werror
endif

$(BASE)/%.bpf.o: %.bpf.c
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c $< -o $@

$(GEN)/%.skel.h: $(BASE)/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen object $(@:.h=.linked.o) $<
	$(Q)$(BPFTOOL) gen skeleton $(@:.h=.linked.o) name $(notdir $*)_bpf > $@

# ---- unit tests: one binary a file, linked with its module and those below only --------------------------------------------------------
UNIT_SOURCES := $(sort $(shell find tests/unit -name 'test_*.c' 2>/dev/null))
UNIT_BINS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(UNIT_SOURCES))
SUPPORT_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/support/*.c))
# An archive, so that a test takes only the helpers that it calls.
$(BUILD)/libsupport.a: $(SUPPORT_OBJECTS)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
module_of_test = $(if $(findstring tests/unit/pprof/,$(1)),pprof,$(if $(findstring tests/unit/river-config/,$(1)),river,$(if $(findstring tests/unit/bpf/,$(1)),unwind,$(word 4,$(subst /, ,$(1))))))

define unit_rule
$(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(1)): $(patsubst %.c,$(BUILD)/%.o,$(1)) $(BUILD)/libsupport.a $(call archives_of,$(call module_of_test,$(1)) $($(call module_of_test,$(1))_deps))
	$$(call msg,TEST,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(LINK) $$(if $$(wildcard $(1:.c=.ldflags)),$$(shell cat $(1:.c=.ldflags) 2>/dev/null)) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) -lcmocka $$(LIBS)
endef
$(foreach t,$(UNIT_SOURCES),$(eval $(call unit_rule,$(t))))
$(patsubst %.c,$(BUILD)/%.o,$(UNIT_SOURCES)) $(SUPPORT_OBJECTS): | $(GENERATED)

# ---- fuzz targets: replayed over their corpora with gcc, or run with clang's libFuzzer --------------------------------------------------
FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SOURCES := $(filter-out tests/fuzz/fuzz_main.c,$(FUZZ_SOURCES))
FUZZ_BINS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(FUZZ_SOURCES))
FUZZ_ARCHIVES := $(call archives_of,cli $(cli_deps))

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/fuzz_main.o $(BUILD)/libsupport.a $(FUZZ_ARCHIVES)
	$(call msg,FUZZ,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)
$(BUILD)/tests/fuzz/%.o: cflags_of_target := -Wno-missing-prototypes
$(patsubst %.c,$(BUILD)/%.o,$(FUZZ_SOURCES) tests/fuzz/fuzz_main.c): | $(GENERATED)

# Programs of the kernel half that only a test has.
$(BUILD)/tests/unit/agent/sample/test_nesting.o: | $(GEN)/tests/unit/agent/sample/nesting.skel.h
$(BUILD)/tests/unit/agent/sample/test_nesting.o: cflags_of_target := -fno-omit-frame-pointer

# ---- agents with a runtime, and with an event, of the tests' own ----------------------------------------------------------------------------
# What depends on the list of runtimes (bpf/runtimes.h) or of events (bpf/events.h) is compiled with another one; the linker takes it in place of the archives' objects.
USERS_OF_SKELETON := $(shell grep -l 'sample[.]skel[.]h' agent/sample/*.c)
TOY := tests/runtimes/toy
TOY_SOURCES := $(USERS_OF_SKELETON) agent/runtimes/runtime.c $(TOY)/toy.c
ALLOCATION := tests/events/allocation
ALLOCATION_SOURCES := $(USERS_OF_SKELETON) $(shell grep -l '\<EVENTS[^A-Z_][A-Z]' agent/*/*.c)

# Its folder, which has a list.h; what is compiled with that.
define agent_of_tests
$(BASE)/$(1)/bpf/%.bpf.o: bpf/%.bpf.c $(1)/list.h
	$$(call msg,BPF,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CLANG) $$(BPF_CFLAGS) -include $(1)/list.h -MMD -MP -MF $$(@:.o=.d) -MT $$@ -c $$< -o $$@

$(BUILD)/$(1)/%.o: %.c $(BUILD)/flags | $(GENERATED) $(GEN)/$(1)/bpf/sample.skel.h $(GEN)/$(1)/bpf/waiting.skel.h
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(COMPILE) -iquote $(GEN)/$(1) -include $(1)/list.h -MMD -MP -c $$< -o $$@

$(BUILD)/$(1)/xagent: $(BUILD)/agent/main.o $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2)) $(call archives_of,cli $(cli_deps))
	$$(call msg,LINK,$$@)
	$$(Q)$$(LINK) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS)
endef
$(eval $(call agent_of_tests,$(TOY),$(TOY_SOURCES)))
$(eval $(call agent_of_tests,$(ALLOCATION),$(ALLOCATION_SOURCES)))

# One that is built like any other, but for where it looks for the return of a switch.
PREDICTED := tests/events/predicted
PREDICTED_OBJECTS := $(BUILD)/$(PREDICTED)/agent/sample/switch_return.o
$(PREDICTED_OBJECTS): $(BUILD)/$(PREDICTED)/%.o: %.c $(PREDICTED)/list.h $(BUILD)/flags
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) -include $(PREDICTED)/list.h -MMD -MP -c $< -o $@
$(BUILD)/$(PREDICTED)/xagent: $(BUILD)/agent/main.o $(PREDICTED_OBJECTS) $(call archives_of,cli $(cli_deps))
	$(call msg,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

.PHONY: unit unit-programs fuzz-replay
unit-programs: $(UNIT_BINS) $(FUZZ_BINS)
unit: $(UNIT_BINS)
	$(Q)tests/run-unit.sh $(UNIT_BINS)
fuzz-replay: $(FUZZ_BINS)
	$(Q)tests/fuzz/replay.sh $(FUZZ_BINS)

# ---- oracles: our unwind rules against libdw's, and against what a program does step by step -------------------------------------------
ORACLE_BINS := $(BUILD)/tests/oracle/step_oracle $(if $(wildcard /usr/include/elfutils/libdw.h),$(BUILD)/tests/oracle/cfi_oracle $(BUILD)/tests/oracle/names_oracle)
ORACLE_ARCHIVES := $(call archives_of,unwind $(unwind_deps))
$(BUILD)/tests/oracle/cfi_oracle: $(BUILD)/tests/oracle/cfi_oracle.o $(BUILD)/tests/oracle/cfi_machine.o $(ORACLE_ARCHIVES)
	$(call msg,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/tests/oracle/names_oracle: $(BUILD)/tests/oracle/names_oracle.o $(call archives_of,object $(object_deps))
	$(call msg,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/tests/oracle/step_oracle: $(BUILD)/tests/oracle/step_oracle.o $(BUILD)/libsupport.a $(ORACLE_ARCHIVES)
	$(call msg,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# ---- bench programs: parts of the agent alone, beside what others do -------------------------------------------------------------------
BENCH := $(BUILD)/tests/bench
BENCH_PROGRAMS := $(BENCH)/walk $(BENCH)/tables $(BENCH)/names $(BENCH)/river $(BENCH)/targets $(BENCH)/store
BENCH_BPF := $(BASE)/tests/bench/walk.bpf.o $(BASE)/tests/bench/peers.bpf.o
BENCH_OBJECTS := $(patsubst %,$(BENCH)/%.o,peers river run names store tables targets targets_context walk context context_tables)

$(BENCH)/walk: $(patsubst %,$(BENCH)/%.o,walk run peers context context_tables) $(call archives_of,unwind $(unwind_deps))
$(BENCH)/tables: $(patsubst %,$(BENCH)/%.o,tables context_tables) $(call archives_of,unwind $(unwind_deps))
$(BENCH)/river: $(BENCH)/river.o $(call archives_of,river)
$(BENCH)/targets: $(patsubst %,$(BENCH)/%.o,targets targets_context) $(call archives_of,component $(component_deps))
$(BENCH)/store: $(BENCH)/store.o $(call archives_of,store $(store_deps))
$(BENCH)/names: $(BENCH)/names.o $(call archives_of,symbol $(symbol_deps))
$(BENCH_PROGRAMS):
	$(call msg,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
$(BENCH_OBJECTS): | $(GENERATED)

# ---- a program that makes profiles and sends them -----------------------------------------------------------------------------------------
$(BUILD)/tests/push/send: $(BUILD)/tests/push/send.o $(call archives_of,component $(component_deps))
	$(call msg,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/tests/push/send.o: | $(GENERATED)

# ---- everything a person calls ------------------------------------------------------------------------------------------------------------
.PHONY: run tidy test test-unit test-page test-oracle test-integration test-kernels test-image bench deps deps-test install uninstall deb format lint clean help

deps: ## install what the build needs (Debian, Ubuntu)
	$(Q)deploy/deps.sh build

deps-test: ## install what the tests need besides
	$(Q)deploy/deps.sh test

run: deps ## install packages, build, profile this host; ARGS='--push.url=…' is passed on
	$(Q)$(MAKE) --no-print-directory $(parallel) all
	$(Q)build/xagent run $(ARGS)

test-unit: ## unit tests under ASan + UBSan, fuzz corpora replayed
	$(Q)$(MAKE) --no-print-directory $(parallel) SAN=1 unit-programs
	$(Q)$(MAKE) --no-print-directory SAN=1 unit fuzz-replay

test-page: ## the parts of the web page that need no browser (node)
	$(Q)tests/page/run.sh

# Each is one process that computes: as many at once as there are CPUs.
test-oracle: $(ORACLE_BINS) ## unwind rules and names against libdw's, and against what programs do
	$(Q)$(MAKE) --no-print-directory $(parallel) -k --output-sync=target oracle-steps oracle-names oracle-rules
.PHONY: oracle-steps oracle-names oracle-rules
oracle-steps:
	$(Q)tests/oracle/steps.sh $(BUILD)/tests/oracle/step_oracle
oracle-names:
	$(Q)ADDRESSES=25000 tests/oracle/run.sh $(BUILD)/tests/oracle/names_oracle
oracle-rules:
	$(Q)tests/oracle/run.sh $(BUILD)/tests/oracle/cfi_oracle

test-integration: all ## the agent against this kernel, servers and containers (root)
	$(Q)tests/integration/run.sh

test-kernels: all ## load, attach, known chains and accounting under other kernels (qemu)
	$(Q)tests/kernels/test.sh

test-image: all ## the Dockerfile's own build on a base from debootstrap (root, three minutes)
	$(Q)XAGENT_TEST_IMAGE=1 tests/integration/run.sh -k test_whole_image_is_built

test: deps-test ## everything; what this machine lacks is skipped and said
	$(Q)$(MAKE) --no-print-directory $(parallel) all
	$(Q)tests/run-all.sh

bench: all $(BENCH_PROGRAMS) $(BENCH_BPF) ## print the figures: CPU, memory, BPF time, completeness …
	$(Q)tests/bench/run.sh

install: all ## install to DESTDIR and PREFIX: program, unit, configuration, man pages
	$(Q)DESTDIR='$(DESTDIR)' deploy/install.sh --prefix=$(PREFIX) --binary=$(BUILD)/xagent

uninstall: ## take it away again; /etc/xagent stays
	$(Q)DESTDIR='$(DESTDIR)' deploy/install.sh --prefix=$(PREFIX) --uninstall

deb: all ## a Debian package of it in build/
	$(Q)deploy/deb.sh $(BUILD)/xagent $(VERSION) $(BUILD)

C_FILES = $(shell git ls-files '*.c' '*.h')
format: ## format the C sources
	$(Q)clang-format -i $(C_FILES)

# An entry a source: what this file would compile it with. Written by make itself, a line a call of $(file).
TIDY_SOURCES := $(foreach m,$(ALL_LIBS),$(call sources_of,$(m))) agent/main.c
JSON_SOURCES := $(TIDY_SOURCES) $(UNIT_SOURCES) $(FUZZ_SOURCES) tests/fuzz/fuzz_main.c \
		$(filter-out %.bpf.c,$(wildcard tests/support/*.c tests/oracle/*.c tests/bench/*.c))
JSON_BPF_SOURCES := $(wildcard tests/bench/*.bpf.c tests/unit/agent/sample/*.bpf.c)
json_entry = { "directory": "$(CURDIR)", "file": "$(1)", "command": "$(subst ",\",$(subst \,\\,$(2))) -c $(1)" }
compile_commands.json: $(GENERATED) FORCE ## how each file is compiled, for clangd and clang-tidy
	$(call msg,JSON,$@)
	$(Q)$(file >$@,[)$(foreach s,$(JSON_SOURCES),$(file >>$@,$(call json_entry,$(s),$(COMPILE)),))
	$(Q)$(foreach s,$(JSON_BPF_SOURCES),$(file >>$@,$(call json_entry,$(s),$(CLANG) $(BPF_CFLAGS)),))
	$(Q)$(file >>$@,$(call json_entry,bpf/sample.bpf.c,$(CLANG) $(BPF_CFLAGS))])

# As many at once as there are CPUs. Minutes for the whole tree, so neither `lint` nor `test` does it.
FILES ?= $(TIDY_SOURCES)
tidy: compile_commands.json ## warnings beyond the compiler's, by .clang-tidy; FILES='agent/push/*.c'
	$(Q)printf '%s\n' $(FILES) | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p . 2>/dev/null

lint: ## borders between folders, banned functions, licences, what the texts say
	$(Q)tests/lint/run.sh

clean: ## remove all products but the downloaded servers and kernels
	rm -rf build/san build/arm64 build/gen build/bpf build/agent build/pprof build/river-config build/tests build/*.a build/*.deb build/flags build/xagent \
		compile_commands.json

help: ## this text
	@awk -F':.*## ' '/^[a-z_.-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

-include $(shell find $(BUILD) -path $(BUILD)/roots -prune -o -type f -name '*.d' -print 2>/dev/null; find $(BASE) -type f -name '*.bpf.d' 2>/dev/null)
