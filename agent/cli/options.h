/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags by table, over getopt_long(3).
 *
 *	--name=value  --name value  -n value  -nvalue  --switch  --switch=false  -xyz  --
 *
 * Flags stand before or after other words; after `--` there are no flags. Beyond what getopt does: a long name must be written out
 * (an abbreviation would stop working with the next flag), and what is wrong is told in one line that names the flag and what it
 * wants. An alias is one more row with the same offset. Main thread only, as getopt is.
 */
#ifndef XAGENT_AGENT_CLI_OPTIONS_H
#define XAGENT_AGENT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/buf.h"

enum cli_kind {
	CLI_SWITCH,	    /* bool; `=true` and `=false` may follow the long name */
	CLI_TEXT,	    /* const char *, borrowed from argv */
	CLI_PARSED,	    /* whatever `parse` makes of it */
	CLI_IGNORED_SWITCH, /* accepted, without effect */
	CLI_IGNORED,	    /* the same with a value */
};

struct cli_flag {
	const char *name; /* without dashes */
	char letter;	  /* 0: none */
	enum cli_kind kind;
	size_t offset;	   /* of the member in the caller's struct */
	const char *wants; /* "a rate from 1 to 10000" */
	/* CLI_PARSED: 0, or any -errno when that is not what the flag wants. May be called more than once for a member. */
	int (*parse)(const char *value, void *member);
};

/* Words that are no flags. */
struct cli_words {
	const char **items; /* owned; the strings are argv's */
	size_t n;
	char **rest; /* what follows `--`, NULL terminated, in argv; NULL: there was none */
};

void cli_words_fini(struct cli_words *w);
#define _cleanup_words_ _cleanup_(cli_words_fini)

/* argv[0] is skipped. 0; -EINVAL with one line in `why`; -ENOMEM (also with a line). What was parsed before stays in `into`. */
int cli_options_parse(const struct cli_flag *flags, size_t n_flags, int argc, char **argv,
		      void *into, struct cli_words *ret_words, struct buf *why);

#endif
