/* SPDX-License-Identifier: Apache-2.0 */
/* What a person asks of `xagent top`, as the words of the command line say it; nothing is looked up. */
#ifndef XAGENT_AGENT_CLI_TOP_TOP_ARGS_H
#define XAGENT_AGENT_CLI_TOP_TOP_ARGS_H

#include <stdint.h>

#include "agent/cli/profile/profile_args.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

#define TOP_DEFAULT_ROWS 20
#define TOP_MAX_ROWS 200

struct top_args {
	struct profile_args profile; /* whom, and what */
	uint64_t interval_ns;
	uint32_t n_rows; /* functions in a table; half as many services */
};

/* 0; -EINVAL or -ENOMEM with one line in `why`. */
int top_args_parse(int argc, char **argv, struct top_args *ret_args, struct buf *why);
void top_args_fini(struct top_args *a);
#define _cleanup_top_args_ _cleanup_(top_args_fini)

const char *top_help_text(void);

#endif
