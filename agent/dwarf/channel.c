/* SPDX-License-Identifier: Apache-2.0 */
/* Whole messages over a pair of sockets. */
#include "agent/dwarf/channel.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define LOOK_NS (50 * NS_PER_MS)

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(CHANNEL_MAX_FDS * sizeof(int))];
};

int channel_new(int ret_fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0 ? -errno : 0;
}

static void attach(struct msghdr *m, union control *control, const int *fds, size_t n_fds)
{
	m->msg_control = control->bytes;
	m->msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	struct cmsghdr *c = CMSG_FIRSTHDR(m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
}

int channel_send(int fd, const void *message, size_t n, const int *fds, size_t n_fds)
{
	struct iovec bytes = { (void *)message, n };
	struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };
	union control control = { 0 };
	ssize_t sent;

	assert(n_fds <= CHANNEL_MAX_FDS);
	if (n_fds > 0)
		attach(&m, &control, fds, n_fds);
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	return errno == EPIPE || errno == ECONNRESET ? CHANNEL_ENDED : -errno;
}

static void take_fds(struct msghdr *m, int *ret_fds, size_t n_fds)
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= c->cmsg_len - CMSG_LEN(0);
		     at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
			if (n < n_fds)
				ret_fds[n++] = fd;
			else
				(void)close(fd);
		}
	}
}

ssize_t channel_receive(int fd, void *message, size_t max_bytes, int *ret_fds, size_t n_fds)
{
	struct iovec bytes = { message, max_bytes };
	struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };
	union control control = { 0 };
	ssize_t n;

	if (n_fds > 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
	}
	for (size_t i = 0; i < n_fds; i++)
		ret_fds[i] = -1;
	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (n_fds > 0)
		take_fds(&m, ret_fds, n_fds);
	return m.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
}

int channel_wait(int fd, uint64_t until_ns, int (*look)(void *data), void *data)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now_ns = clock_mono_ns();
		uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		int n = poll(&p, 1, (int)(MIN_OF(left_ns, LOOK_NS) / NS_PER_MS));
		int r = n < 0 && errno != EINTR ? -errno : 0;

		if (n > 0 || r < 0)
			return r;
		r = look ? look(data) : 0;
		if (r != 0)
			return r;
		if (left_ns == 0)
			return CHANNEL_LATE;
	}
}
