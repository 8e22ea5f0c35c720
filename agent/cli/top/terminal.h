/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal that is drawn on: its other screen, without a cursor, and keys as they are pressed. Main thread. */
#ifndef XAGENT_AGENT_CLI_TOP_TERMINAL_H
#define XAGENT_AGENT_CLI_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
	int in_fd, out_fd; /* borrowed */
	bool is_open;
	bool has_keys; /* in_fd is a terminal, too */
	struct termios before;
};

/* out_fd understands escapes (cli/profile/progress.h). 0 or -errno. Where in_fd is no terminal there are no keys. */
int terminal_open(struct terminal *t, int in_fd, int out_fd);
/* As it was before. Of zeroes, or closed: nothing happens. */
void terminal_close(struct terminal *t);

/* 24 and 80 where it does not say, or says less than 1. */
void terminal_size(const struct terminal *t, size_t *ret_rows, size_t *ret_columns);
/* In place of all that was there. 0 or -errno. */
int terminal_draw(const struct terminal *t, const char *text);

#endif
