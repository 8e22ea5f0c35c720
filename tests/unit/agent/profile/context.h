/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interval whose names are known: a kernel of N_FUNCTIONS functions named fn000, fn001 …, and a symbol store over it.
 */
#ifndef XAGENT_TESTS_UNIT_AGENT_PROFILE_CONTEXT_H
#define XAGENT_TESTS_UNIT_AGENT_PROFILE_CONTEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/file_table.h"
#include "agent/profile/build.h"
#include "agent/unwind/user_stack.h"
#include "agent/util/macro.h"

#define PERIOD_NS 10000000ULL

#define UNKNOWN frame_ref_of(FRAME_KIND_UNKNOWN, 0)
#define REASON(end) frame_ref_of(FRAME_KIND_END, STOP_REASON_##end)

static inline struct frame_ref kernel_frame(uint64_t pc)
{
	return frame_ref_of(FRAME_KIND_KERNEL, pc);
}

/* In memory without a file, of which nobody tells a name. */
static inline struct frame_ref jit_frame(struct interval *i)
{
	struct frame_ref frame = FRAME_REF_NONE;

	assert_int_equal(interval_anon_frame(i, &(struct anon_place){ 0 }, &frame), 0);
	return frame;
}

/* One tick: pcs in the kernel, then user frames. */
static inline int add_sample(struct interval *i, struct labels *labels, const uint64_t *kernel,
			     uint16_t n_kernel, const struct frame_ref *user, uint16_t n_user,
			     bool *ret_is_new)
{
	struct frame_ref frames[NAMED_STACK_MAX];
	const int64_t value = PERIOD_NS;
	const struct samples one = { .labels = labels,
				     .values = &value,
				     .frames = frames,
				     .n_kernel = n_kernel,
				     .n_user = n_user,
				     .count = 1 };

	assert_true(n_kernel + n_user <= NAMED_STACK_MAX);
	for (uint16_t k = 0; k < n_kernel; k++)
		frames[k] = kernel_frame(kernel[k]);
	for (uint16_t k = 0; k < n_user; k++)
		frames[n_kernel + k] = user[k];
	return interval_add(i, &one, ret_is_new);
}

#define N_FUNCTIONS 200
#define KERNEL_TEXT 0xffffffff81000000ULL
#define END_REAL_NS 1700000000000000000ULL

/* An address in function i. */
#define FN(i) (KERNEL_TEXT + (uint64_t)(i)*0x1000 + 0x10)
#define NO_FRAMES NULL

struct context {
	char kallsyms[64]; /* path; "" when there is none */
	char notes[64];	   /* of the kernel, with a build id that is no host's; the same */
	struct file_table *files;
	struct symbol_store *store;
	struct interval *interval;
	struct namer *namer;
	struct labels *web;
	struct labels *db;
};

static inline struct labels *make_service(const char *name)
{
	const struct label item = { "service_name", name };
	struct labels *l = NULL;

	assert_int_equal(labels_new(&item, 1, &l), 0);
	return l;
}

static inline void write_kallsyms(struct context *w)
{
	(void)snprintf(w->kallsyms, sizeof(w->kallsyms), "/tmp/xagent-kallsyms-XXXXXX");
	int fd = mkstemp(w->kallsyms);
	assert_true(fd >= 0);
	FILE *f = fdopen(fd, "w");
	assert_non_null(f);
	for (unsigned int i = 0; i < N_FUNCTIONS; i++)
		fprintf(f, "%016llx T fn%03u\n", KERNEL_TEXT + i * 0x1000ULL, i);
	assert_int_equal(fclose(f), 0);
}

/* struct elf64_note, as /sys/kernel/notes has it. */
static inline void write_notes(struct context *w)
{
	static const struct {
		uint32_t n_name, n_desc, type;
		char name[4];
		uint8_t desc[20];
	} note = { 4, 20, 3 /* NT_GNU_BUILD_ID */, "GNU", { 0x12, 0x34, 0x56, 0x78 } };

	(void)snprintf(w->notes, sizeof(w->notes), "/tmp/xagent-notes-XXXXXX");
	_cleanup_close_ int fd = mkstemp(w->notes);
	assert_int_equal(write(fd, &note, sizeof(note)), sizeof(note));
}

static inline void context_open(struct context *w, const char *kallsyms_path)
{
	struct symbol_store_options o = SYMBOL_STORE_OPTIONS_INIT;

	o.kallsyms_path = kallsyms_path;
	o.notes_path = w->notes;
	assert_int_equal(symbol_store_new(&o, &w->store), 0);
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &w->files), 0);
	assert_int_equal(interval_new(PERIOD_NS, (size_t)32 << 20, &w->interval), 0);
	w->interval->end_real_ns = END_REAL_NS;
	w->interval->begin_real_ns = END_REAL_NS - 5000000000ULL;
	w->web = make_service("web");
	w->db = make_service("db");
	symbol_store_begin(w->store);
	assert_int_equal(namer_new(w->interval, w->store, (size_t)1 << 20, &w->namer), 0);
}

static inline int context_setup(void **state)
{
	struct context *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	*state = w;
	write_kallsyms(w);
	write_notes(w);
	context_open(w, w->kallsyms);
	return 0;
}

/* Some of the kernel's functions have names of their own: [number] = name. */
static inline int context_setup_names(void **state, const char *const names[static N_FUNCTIONS])
{
	struct context *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	*state = w;
	write_kallsyms(w);
	FILE *f = fopen(w->kallsyms, "w");
	assert_non_null(f);
	for (unsigned int i = 0; i < N_FUNCTIONS; i++)
		if (names[i])
			fprintf(f, "%016llx T %s\n", KERNEL_TEXT + i * 0x1000ULL, names[i]);
		else
			fprintf(f, "%016llx T fn%03u\n", KERNEL_TEXT + i * 0x1000ULL, i);
	assert_int_equal(fclose(f), 0);
	write_notes(w);
	context_open(w, w->kallsyms);
	return 0;
}

/* A kernel that hides its addresses. */
static inline int context_setup_hidden(void **state)
{
	struct context *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	*state = w;
	context_open(w, "/nonexistent/kallsyms");
	return 0;
}

static inline int context_teardown(void **state)
{
	struct context *w = *state;

	namer_free(w->namer);
	symbol_store_end(w->store);
	symbol_store_free(w->store);
	interval_free(w->interval);
	labels_unref(w->web);
	labels_unref(w->db);
	file_table_free(w->files);
	if (w->notes[0])
		(void)unlink(w->notes);
	if (w->kallsyms[0])
		(void)unlink(w->kallsyms);
	free(w);
	return 0;
}

/* The stack is sampled `count` times. */
static inline void context_add(struct context *w, struct labels *labels, const uint64_t *kernel,
			       uint16_t n_kernel, const struct frame_ref *user, uint16_t n_user,
			       unsigned int count)
{
	bool is_new;

	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(
			add_sample(w->interval, labels, kernel, n_kernel, user, n_user, &is_new),
			0);
}

/* A file that was never opened, with its reference in the interval only. */
static inline uint32_t context_add_file(struct context *w, const char *path, uint64_t inode)
{
	struct file_facts facts = { .key = { .dev = 1, .inode = inode }, .path = str_from(path) };
	struct mapped_file *f = NULL;

	assert_int_equal(file_table_get(w->files, &facts, &f), 0);
	assert_int_equal(interval_add_file(w->interval, f), 0);
	uint32_t id = f->id;
	mapped_file_unref(f);
	return id;
}

#endif
