/* SPDX-License-Identifier: Apache-2.0 */
/* What a person asks of `xagent profile`, as the words of the command line say it; nothing is looked up. */
#ifndef XAGENT_AGENT_CLI_PROFILE_PROFILE_ARGS_H
#define XAGENT_AGENT_CLI_PROFILE_PROFILE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/cli/profile/profile_format.h"
#include "agent/cli/values.h"
#include "agent/object/demangle/demangle.h"
#include "agent/profile/tag.h"
#include "agent/sample/event_text.h"
#include "agent/symbol/debuginfod.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/cpus.h"

/* In order of appearance, may repeat. */
struct url_list {
	const char *items[DEBUGINFOD_MAX_URLS]; /* borrowed from argv */
	size_t n;
};

struct profile_args {
	struct id_list pids;
	struct id_list tids;
	struct cpus cpus;   /* empty: all */
	const char *cgroup; /* NULL: none; borrowed from argv, as all texts here */
	bool all;	    /* not only the command */
	bool idle;
	bool user_only;
	bool kernel_only;
	struct event_list events; /* one at least */
	enum reason_use off_cpu_reason;
	bool off_cpu_waker;
	uint32_t hz;	   /* of timer ticks: samples a second and CPU */
	uint32_t limit_hz; /* of any other event: at most */
	unsigned int tracepoint_hz[EVENT_MAX_TRACEPOINTS]; /* the same of each */
	uint64_t duration_ns; /* 0: until ^C, or as long as the command or the processes live */
	enum profile_format format;
	const char *output; /* NULL: standard output */
	enum demangle_mode demangle;
	bool lines;		 /* and inlined functions */
	bool columns;		 /* with lines */
	bool interpreter_frames; /* of interpreters' own functions, too */
	bool async_frames;	 /* of tasks that await the one that runs, too */
	bool thread_names;	 /* a label */
	bool hotspot_tiers;	 /* likewise */
	bool hotspot_arguments;	 /* in names of methods of Java */
	struct url_list debuginfod;
	const char *debuginfod_cache; /* NULL: the user's cache */
	size_t memory_limit_bytes;    /* 0: the default */
	bool verifier_stats;
	bool verbose;
	bool help;
	char **command; /* NULL: none; else NULL terminated, in argv */
};

/* 0; -EINVAL or -ENOMEM with one line in `why`. `stdout_is_tty` decides what the format is when none was asked for,
 * and that what no terminal shows goes to a file. */
int profile_args_parse(int argc, char **argv, bool stdout_is_tty, struct profile_args *ret_args,
		       struct buf *why);
void profile_args_fini(struct profile_args *a);
#define _cleanup_profile_args_ _cleanup_(profile_args_fini)

/* Wakers are of waits. 0, or -EINVAL with one line in `why`. */
int profile_args_check_waker(const struct profile_args *a, struct buf *why);

/* What -e and -F have left open. */
void profile_args_settle_rates(struct profile_args *a);

/* Only what the command and its children do is to be profiled (else a command is the duration). */
bool profile_args_is_command_only(const struct profile_args *a);

/* Who is profiled, for a line of text: "pid 4711", "cgroup /a on CPU 0-1", "make", "all processes". */
void profile_args_subject(const struct profile_args *a, struct buf *out);

/* ", 97 Hz" with `before` ", "; nothing where no timer ticks are sampled. */
void profile_args_rate(const struct profile_args *a, const char *before, uint32_t hz,
		       struct buf *out);

const char *profile_help_text(void);

#endif
