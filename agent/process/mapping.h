/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable mappings of a process, and the files behind them.
 *
 * A `struct mappings` is immutable and shared: a fork starts with its parent's, a change makes a
 * new one. Only executable mappings are kept, ascending by begin, never overlapping (a new one cuts
 * what it covers, as the kernel does).
 *
 * A `struct mapped_file` is one file as the kernel identifies it (device, inode, generation),
 * whoever maps it under whatever path. It says nothing about what is inside. Its id is what user
 * frames carry on the wire (WIRE_MAX_OBJECT_ID), so a stack can be named after its process is gone.
 */
#ifndef XAGENT_AGENT_PROCESS_MAPPING_H
#define XAGENT_AGENT_PROCESS_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/cleanup.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

/* More executable mappings than any known process has (V8 with thousands of code pages stays
 * below); the rest is not named. */
#define MAPPINGS_MAX 4096
#define MAPPING_PATH_MAX 4096

enum mapping_kind {
	/* a file on disk, also one that is deleted or a memfd; or memory without a file that holds a
	 * copy of the file's text at its place */
	MAPPING_FILE,
	MAPPING_VDSO, /* the kernel's, the same image in every process of one ABI */
	MAPPING_ANON, /* executable memory without a file: JIT code */
};

/* What identifies a file. inode_generation is 0 where only /proc/PID/maps was read. */
struct file_key {
	uint64_t dev; /* as makedev(3) */
	uint64_t inode;
};

struct file_table;

struct mapped_file {
	uint32_t id; /* 1 … WIRE_MAX_OBJECT_ID */
	struct file_key key;
	char *path; /* as the process that was seen first sees it, without " (deleted)" */
	bool deleted;
	bool vdso;
	/* −1 until process_open_file() succeeded; then stays open while somebody has a reference. */
	int fd;
	int open_error; /* −errno of the last failed attempt that tells of the file, else 0 */
	uint64_t
		open_error_ns; /* CLOCK_MONOTONIC: when that was; 0: that is not known, and it holds for good */
	uint32_t lost_by; /* -ETIMEDOUT: the process for which opening it was given up */
	/* Of its separate debug file, since mapped_file_take_debug_fd(); closed with `fd`. */
	bool has_debug;
	int debug_fd;
	/* CLOCK_MONOTONIC: when it was looked for in vain; 0: not yet, or another process maps the file
	 * since. */
	uint64_t debug_missed_ns;
	/* debug_open's: the worker takes the sum of what may be one; and of which candidates it was another (0: none). */
	bool debug_is_checked;
	uint64_t debug_refused;
	/* agent/runtimes/runtime_search.h: in which of its rounds the file was, or waits to be, looked at; 0: in none. */
	uint32_t searched;

	/* private to file_table.c */
	unsigned int n_refs;
	uint64_t generation; /* of the inode; 0: not known */
	uint64_t opened_size;
	uint64_t opened_mtime_ns;
	uint64_t opened_print;
	/* CLOCK_MONOTONIC: until then its content was known to be what it was when it was opened. */
	uint64_t checked_ns;
	bool retired;		  /* its key means another file now */
	struct file_table *table; /* NULL when the table is gone */
	struct hash_node node;
	struct list all;
	struct list lru;      /* of unreferenced files */
	struct list idle_fds; /* of unreferenced files with a descriptor */
};

struct mapping {
	uint64_t begin;
	uint64_t end;
	uint64_t file_off; /* of begin */
	enum mapping_kind kind;
	struct mapped_file *file; /* a reference; NULL for MAPPING_ANON */
	/* Of MAPPING_ANON, what the kernel calls it: "[heap]", "[stack]", "[anon:…]"; NULL: nothing. The file table's, which holds
	 * equal ones once. */
	const char *name;
};

struct mappings {
	unsigned int n_refs;
	uint32_t n;
	struct mapping items[];
};

struct mappings *mappings_ref(struct mappings *m);
void mappings_unref(struct mappings *m); /* NULL-safe */
DEFINE_CLEANUP(struct mappings *, mappings_unref);

/* The mapping that holds pc, or NULL. NULL-safe in `m`. O(log n). */
const struct mapping *mappings_find(const struct mappings *m, uint64_t pc);

/* Index of the first mapping that ends after `addr`; m->n: none. O(log n). */
uint32_t mappings_first_ending_after(const struct mappings *m, uint64_t addr);

/* −1: none is open. */
static inline int mapped_file_debug_fd(const struct mapped_file *f)
{
	/* The loop thread may open it while the worker looks. */
	return __atomic_load_n(&f->has_debug, __ATOMIC_ACQUIRE) ? f->debug_fd : -1;
}

/* Of the inode, as an event told; 0: not known. */
static inline uint64_t mapped_file_generation(const struct mapped_file *f)
{
	return f->generation;
}

struct mapped_file *mapped_file_ref(struct mapped_file *f);
void mapped_file_unref(struct mapped_file *f);

#endif
