/* SPDX-License-Identifier: Apache-2.0 */
/* What `xagent profile` says to a person besides the result: a progress line, and how it went. Pure text. */
#ifndef XAGENT_AGENT_CLI_PROFILE_REPORT_H
#define XAGENT_AGENT_CLI_PROFILE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/cli/profile/profile_args.h"
#include "agent/util/buf.h"

struct report {
	const struct profile_args *args;
	uint32_t hz; /* as the kernel allowed it */
	uint64_t elapsed_ns;
	uint64_t n_samples;
	uint64_t n_ring_lost;	/* the ring was full */
	uint64_t n_user_stacks; /* walked */
	uint64_t n_complete;	/* of these, to their outermost frame */
	uint64_t n_dropped;	/* arrived, and are not in the result */
	bool kernel_hidden;
	unsigned int n_parts; /* files written: FILE, FILE.2 … */
	const char *path;     /* of FILE, from the root on; NULL: as it was asked for */
};

/* Of one event, of several of which each has a file. */
struct report_file {
	const struct event_text *event;
	const char *file, *path; /* as it was asked for, and from the root on; NULL: the same */
	unsigned int n_parts;
	bool is_missing; /* it was refused */
};

/* "3.2s  612 samples  pid 4711, 97 Hz, ^C to end": no line break. */
void report_progress(const struct report *r, struct buf *out);

/* Lines that end in a line break, each beginning with "xagent: ". The last one says how to look at what was written. */
void report_end(const struct report *r, struct buf *out);
/* "xagent: Off-CPU time: open it in a browser: …", or that there is none. */
void report_put_file(const struct report *r, const struct report_file *f, struct buf *out);

#endif
