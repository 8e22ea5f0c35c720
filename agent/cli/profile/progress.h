/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal that is written over again and again, and gone at the end. */
#ifndef XAGENT_AGENT_CLI_PROFILE_PROGRESS_H
#define XAGENT_AGENT_CLI_PROFILE_PROGRESS_H

#include <stdbool.h>

struct progress {
	int fd; /* borrowed */
	bool shown;
};

/* True where such a line makes sense: `fd` is a terminal that understands escapes. */
bool progress_is_possible(int fd);

/* Cut to the width of the terminal. The cursor stays at the beginning, so that a line of the log replaces it. */
void progress_show(struct progress *p, const char *text);
void progress_clear(struct progress *p);

#endif
