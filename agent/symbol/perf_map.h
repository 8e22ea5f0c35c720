/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf map: the text file /tmp/perf-PID.map in which a process names the code that it generates.
 *
 * Each line is one function. The file grows while the process runs, and addresses are used again: the later line holds. What is kept
 * is where each line begins; names are read when asked for. Each read goes on where the last one ended, before a line that is not
 * whole yet, unless the file is another one by now (shorter, or other bytes before that place): then it is read from its beginning.
 */
#ifndef XAGENT_AGENT_SYMBOL_PERF_MAP_H
#define XAGENT_AGENT_SYMBOL_PERF_MAP_H

#include <stdbool.h>

#include "agent/object/bytes.h"
#include "agent/symbol/code_ranges.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Of a name that is shown; the rest is cut. Signatures of Java and .NET reach some hundred bytes. */
#define PERF_MAP_MAX_NAME_BYTES 1024
/* Two numbers with 0x and blanks around them, before the name. */
#define PERF_MAP_MAX_HEAD_BYTES 64
#define PERF_MAP_N_CHECK 64
/* Uses of one address between a sample and its naming that are looked at. */
#define PERF_MAP_MAX_USES 16

struct perf_map_line {
	uint64_t begin;
	uint64_t n_bytes;
	struct str name; /* borrowed from the line; never empty */
};

/* Line = [blanks] begin blanks size blanks name, the numbers hexadecimal with or without 0x. False: it is none. */
bool perf_map_parse_line(struct str line, struct perf_map_line *ret_line);

struct perf_map {
	struct code_ranges ranges;
	uint64_t read_to;  /* file offset */
	bool in_long_line; /* `read_to` lies within a line that is too long to be one */
	size_t n_check;	   /* … bytes before `read_to`, as they were */
	char check[PERF_MAP_N_CHECK];
};

/* `max_bytes` of memory; another number holds from the next read on. */
void perf_map_init(struct perf_map *m, size_t max_bytes);
void perf_map_set_max(struct perf_map *m, size_t max_bytes);
void perf_map_fini(struct perf_map *m);

/* Reads what has come since the last time, about `max_read` bytes at most: the rest next time, but of a file that is read for the first
 * time the end. Borrows `b` for the call. 0 or -errno; *ret_n_read is set in any case. */
int perf_map_read(struct perf_map *m, const struct bytes *b, uint64_t max_read,
		  uint64_t *ret_n_read);

enum perf_map_outcome {
	PERF_MAP_NONE = 1, /* no line covers the pc, or the file has changed meanwhile */
	PERF_MAP_OUTCOME_MAX
};

/* Appends the raw name of what lay at pc when the file had so many bytes (0: now). 0, PERF_MAP_NONE, -errno. */
int perf_map_name(const struct perf_map *m, const struct bytes *b, uint64_t pc, uint64_t n_bytes,
		  struct buf *name);

size_t perf_map_bytes(const struct perf_map *m);

#endif
