/* SPDX-License-Identifier: Apache-2.0 */
/* A reader's call that does not return before the test wants it: whom it was made for is avoided until then. */
#ifndef XAGENT_TESTS_UNIT_AGENT_PROCESS_LOST_CALL_H
#define XAGENT_TESTS_UNIT_AGENT_PROCESS_LOST_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/util/macro.h"
#include "agent/util/reader.h"
#include "tests/support/unit.h"

struct lost_call {
	struct reader_call call;
	int fd; /* owned */
};

static inline void lost_call_run(struct reader_call *call)
{
	char byte;

	(void)!read(CONTAINER_OF(call, struct lost_call, call)->fd, &byte, 1);
}

static inline void lost_call_free(struct reader_call *call)
{
	struct lost_call *c = CONTAINER_OF(call, struct lost_call, call);

	(void)close(c->fd);
	free(c);
}

/* Returns the descriptor to release it by. */
static inline int lost_call_make(const struct reader_subject *subject)
{
	struct lost_call *c = calloc(1, sizeof(*c));
	int ends[2];

	assert_non_null(c);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*c = (struct lost_call){ .call = { .run = lost_call_run, .free = lost_call_free },
				 .fd = ends[0] };
	assert_int_equal(reader_run(&c->call, subject), -ETIMEDOUT);
	assert_int_equal(reader_get_stats().n_lost, 1);
	return ends[1];
}

static inline void lost_call_release(int fd)
{
	(void)close(fd);
	for (int i = 0; i < 5000 && reader_get_stats().n_lost > 0; i++)
		(void)usleep(1000);
	assert_int_equal(reader_get_stats().n_lost, 0);
}

#endif
