/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A jitdump: the binary file in which a process tells of the code that it generates (version 1 of the format,
 * tools/perf/Documentation/jitdump-specification.txt of the kernel).
 *
 * A header, then records: a function was loaded, a function was moved, and others that are passed over, as is the code itself. The file
 * is read as a perf map is: on from where the last read ended, before a record that is not whole yet; from its beginning when the header
 * is another one. A record that cannot be one ends the reading, since where the next one begins is not known then.
 */
#ifndef XAGENT_AGENT_SYMBOL_JITDUMP_H
#define XAGENT_AGENT_SYMBOL_JITDUMP_H

#include <stdbool.h>

#include "agent/object/bytes.h"
#include "agent/symbol/code_ranges.h"
#include "agent/util/buf.h"

/* Of a name that is shown; the rest is cut. */
#define JITDUMP_MAX_NAME_BYTES 1024
#define JITDUMP_HEADER_BYTES 40
/* Uses of one address between a sample and its naming that are looked at. */
#define JITDUMP_MAX_USES 16

/* What a move is looked up by. */
struct jitdump_load {
	uint64_t code_index;
	uint64_t record_off;
};

struct jitdump {
	struct code_ranges ranges;
	struct jitdump_load
		*loads; /* owned, ascending by code_index: those that came so, the newest */
	size_t n_loads;
	size_t cap_loads;
	size_t max_loads;
	uint64_t read_to; /* file offset; 0: the header was not read */
	bool ended;	  /* a record was malformed */
	unsigned char header[JITDUMP_HEADER_BYTES];
};

enum jitdump_outcome {
	JITDUMP_NONE = 1, /* nothing known of the pc, or the file has changed meanwhile */
	JITDUMP_FOREIGN,  /* no jitdump, or one of another byte order or version */
	JITDUMP_OUTCOME_MAX
};

/* `max_bytes` of memory; another number holds from the next read on. */
void jitdump_init(struct jitdump *d, size_t max_bytes);
void jitdump_set_max(struct jitdump *d, size_t max_bytes);
void jitdump_fini(struct jitdump *d);

/* Reads what has come since the last time, as much as takes about `max_read` bytes (the rest next time). Borrows `b` for the call. 0,
 * JITDUMP_FOREIGN, -errno; *ret_n_read is set in any case. */
int jitdump_read(struct jitdump *d, const struct bytes *b, uint64_t max_read, uint64_t *ret_n_read);

/* Appends the raw name of what lay at pc at `at_ns` of CLOCK_MONOTONIC (0: of what was written last); it is now `now_ns`. 0, JITDUMP_NONE,
 * -errno. */
int jitdump_name(const struct jitdump *d, const struct bytes *b, uint64_t pc, uint64_t at_ns,
		 uint64_t now_ns, struct buf *name);

size_t jitdump_bytes(const struct jitdump *d);

#endif
