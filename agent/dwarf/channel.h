/* SPDX-License-Identifier: Apache-2.0 */
/* Whole messages over a pair of sockets, with descriptors, and not longer than somebody wants to wait. */
#ifndef XAGENT_AGENT_DWARF_CHANNEL_H
#define XAGENT_AGENT_DWARF_CHANNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* With a message: a reader's socket and its file. */
#define CHANNEL_MAX_FDS 2

enum channel_outcome {
	CHANNEL_ENDED = 1, /* the other side is gone */
	CHANNEL_LATE,
	CHANNEL_OUTCOME_MAX
};

/* Both ends are close-on-exec. 0 or -errno. */
int channel_new(int ret_fds[2]);
/* With n_fds descriptors, which stay the caller's. Does not wait: -EAGAIN when the other side has not read for long. 0, CHANNEL_ENDED,
 * -errno. */
int channel_send(int fd, const void *message, size_t n, const int *fds, size_t n_fds);
/* Waits. Descriptors that came go to ret_fds (the caller's now, −1: none), those beyond n_fds are closed. The size of the message, 0 at the
 * end, -errno; -EMSGSIZE when it was larger than max_bytes. */
ssize_t channel_receive(int fd, void *message, size_t max_bytes, int *ret_fds, size_t n_fds);
/* Waits for a message until a time (CLOCK_MONOTONIC), or only until look(data) says otherwise, which is asked 20 times a second; look may be
 * NULL. 0 (or the other side is gone), CHANNEL_LATE, what look said, -errno. */
int channel_wait(int fd, uint64_t until_ns, int (*look)(void *data), void *data);

#endif
