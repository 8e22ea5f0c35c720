/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets from "host:port". */
#include "agent/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "agent/util/cleanup.h"

#define LISTEN_BACKLOG 128

static bool listen_parse_host(struct str host, union listen_address *a)
{
	char text[INET6_ADDRSTRLEN];

	if (host.n == 0) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_addr = in6addr_any;
		return true;
	}
	if (str_eq(host, STR_LIT("localhost")))
		host = STR_LIT("127.0.0.1");
	bool v6 = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
	if (v6)
		host = (struct str){ host.p + 1, host.n - 2 };
	if (host.n >= sizeof(text))
		return false;
	memcpy(text, host.p, host.n);
	text[host.n] = '\0';
	a->any.sa_family = v6 ? AF_INET6 : AF_INET;
	return inet_pton(a->any.sa_family, text,
			 v6 ? (void *)&a->v6.sin6_addr : (void *)&a->v4.sin_addr) == 1;
}

bool listen_parse(struct str text, union listen_address *ret_address)
{
	union listen_address a;
	const char *colon = text.n ? memrchr(text.p, ':', text.n) : NULL;
	uint64_t port;

	memset(&a, 0, sizeof(a));
	if (!colon)
		return false;
	struct str host = { text.p, (size_t)(colon - text.p) };
	struct str digits = { colon + 1, text.n - host.n - 1 };
	if (str_parse_u64(digits, 10, UINT16_MAX, &port) < 0 || !listen_parse_host(host, &a))
		return false;
	if (a.any.sa_family == AF_INET6)
		a.v6.sin6_port = htons((uint16_t)port);
	else
		a.v4.sin_port = htons((uint16_t)port);
	*ret_address = a;
	return true;
}

/* RFC 1122 §3.2.1.3: all of 127/8; IPv4 in IPv6 counts as IPv4. */
bool listen_is_loopback(const union listen_address *a)
{
	const struct in6_addr *v6 = &a->v6.sin6_addr;

	if (a->any.sa_family == AF_INET)
		return ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(v6) ||
	       (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
}

static socklen_t listen_address_bytes(const union listen_address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
}

static int listen_bind(int fd, const union listen_address *a)
{
	int on = 1;
	int v6_only = !IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (a->any.sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only)) < 0)
		return -errno;
	if (bind(fd, &a->any, listen_address_bytes(a)) < 0 || listen(fd, LISTEN_BACKLOG) < 0)
		return -errno;
	return 0;
}

static int listen_open_once(const union listen_address *a, uint16_t *ret_port)
{
	_cleanup_close_ int fd =
		socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	union listen_address bound;
	socklen_t n = sizeof(bound);

	if (fd < 0)
		return -errno;
	int r = listen_bind(fd, a);
	if (r < 0)
		return r;
	if (getsockname(fd, &bound.any, &n) < 0)
		return -errno;
	*ret_port = ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
	return TAKE_FD(fd);
}

int listen_open(const union listen_address *address, uint16_t *ret_port)
{
	int fd = listen_open_once(address, ret_port);

	if (fd != -EAFNOSUPPORT || address->any.sa_family != AF_INET6 ||
	    !IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr))
		return fd;
	union listen_address v4 = { .v4 = { .sin_family = AF_INET,
					    .sin_port = address->v6.sin6_port } };
	return listen_open_once(&v4, ret_port);
}
