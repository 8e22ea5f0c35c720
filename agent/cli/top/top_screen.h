/* SPDX-License-Identifier: Apache-2.0 */
/* A view as lines of text. Pure. */
#ifndef XAGENT_AGENT_CLI_TOP_TOP_SCREEN_H
#define XAGENT_AGENT_CLI_TOP_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/cli/top/top_view.h"
#include "agent/sample/event_text.h"
#include "agent/util/buf.h"

enum top_shows { TOP_BOTH, TOP_SERVICES, TOP_FUNCTIONS };

struct top_screen {
	const struct top_view *view; /* NULL: the first interval is not over */
	struct event_text event;
	const char *subject; /* who is looked at: "all processes" */
	uint32_t hz;
	uint64_t interval_ns;
	size_t n_cpus;	 /* that are online */
	uint64_t n_lost; /* samples, of this interval */
	enum top_shows shows;
	bool is_held;
	/* Of a terminal; 0 rows: a table of any length and width, with as many services and functions. */
	size_t rows, columns;
	size_t n_services, n_functions;
};

/* Lines that end in '\n', of `columns` characters at most. On a terminal there are `rows` at most, and the last one, which tells the keys, has no end. */
void top_screen_put(const struct top_screen *s, struct buf *out);

#endif
