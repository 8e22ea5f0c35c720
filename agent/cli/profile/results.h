/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of `xagent profile`: one file, or one for each event where the format holds one event only.
 *
 *	app.html of cpu and off_cpu ─► app.cpu.html, app.off_cpu.html; tables one behind the other, each with a heading; speedscope, otlp: one file
 */
#ifndef XAGENT_AGENT_CLI_PROFILE_RESULTS_H
#define XAGENT_AGENT_CLI_PROFILE_RESULTS_H

#include "agent/cli/profile/profile_args.h"
#include "agent/cli/profile/result.h"

/* Of one event. */
struct results_part {
	char *file; /* owned; NULL: that of all, or standard output */
	struct result result;
	bool is_missing; /* the kernel has refused the event: there is no file of it */
};

struct results {
	const struct profile_args *args; /* borrowed */
	struct results_part
		*parts; /* owned, one for each event; the first has what holds all of them */
	size_t n;
};

/* Of zeroes. 0 or -ENOMEM. */
int results_init(struct results *r, const struct profile_args *args);
void results_fini(struct results *r);

/* As output_check(), of all files; where several would go to what is no file that is an error, too. */
int results_check(const struct results *r, struct buf *why);

build_fn results_build_fn(const struct results *r);
void *results_build_data(struct results *r);

/* The event was not sampled. */
void results_miss(struct results *r, size_t i);

/* As result_write() and result_end(); `facts` are those of all events. */
int results_write(struct results *r, const struct build *build, struct buf *why);
int results_end(struct results *r, const struct flame_facts *facts, struct buf *why);

/* Written so far. */
unsigned int results_n_files(const struct results *r);

#endif
