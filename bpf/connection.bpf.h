/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Both ends of a TCP connection, as a record has them (struct wire_connection). */
#ifndef XAGENT_BPF_CONNECTION_BPF_H
#define XAGENT_BPF_CONNECTION_BPF_H

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel.h"
#include "bpf/walk.bpf.h"

/* include/linux/socket.h, include/uapi/linux/in.h, include/uapi/linux/stat.h */
#define CONNECTION_AF_INET 2
#define CONNECTION_AF_INET6 10
#define CONNECTION_TCP 6
#define CONNECTION_MPTCP 262
#define CONNECTION_S_IFMT 0170000
#define CONNECTION_S_IFSOCK 0140000

/* ::ffff:0.0.0.0, the upper half of it, as it lies in memory. */
#define CONNECTION_MAPPED 0xffff0000ULL

/* struct sockaddr_in and sockaddr_in6: include/uapi/linux/in.h, include/uapi/linux/in6.h */
struct connection_asked {
	__u16 family;
	__u16 port;
	__u32 in;
	__u64 in6[2];
};

static __always_inline bool connection_is_tcp(struct sock *sk)
{
	__u16 family = KERNEL_READ(sk, __sk_common.skc_family, 0);
	__u16 protocol = KERNEL_READ(sk, sk_protocol, 0);

	return (family == CONNECTION_AF_INET || family == CONNECTION_AF_INET6) &&
	       (protocol == CONNECTION_TCP || protocol == CONNECTION_MPTCP);
}

/*
 * The socket (struct sock) that a descriptor of the present task refers to; 0: it is none of TCP. Functions of their own for their stack, which is not to lie below
 * that of the walk.
 */
__noinline __u64 connection_socket(__u32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct files_struct *files = KERNEL_READ(task, files, NULL);
	struct fdtable *table = KERNEL_READ(files, fdt, NULL);
	struct file *file = NULL;
	struct socket *socket;
	struct sock *sk;

	if (!table || fd >= KERNEL_READ(table, max_fds, 0))
		return 0;
	struct file **slot = KERNEL_READ(table, fd, NULL) + fd;
	if (bpf_probe_read_kernel(&file, sizeof(file), slot) || !file)
		return 0;
	if (!bpf_core_field_exists(file->f_inode) || !bpf_core_field_exists(struct inode, i_mode) ||
	    (BPF_CORE_READ(file, f_inode, i_mode) & CONNECTION_S_IFMT) != CONNECTION_S_IFSOCK)
		return 0;
	socket = KERNEL_READ(file, private_data, NULL);
	sk = socket ? KERNEL_READ(socket, sk, NULL) : NULL;
	return sk && connection_is_tcp(sk) ? (__u64)sk : 0;
}

static __always_inline void connection_put_in(__u64 to[2], __u32 address)
{
	to[0] = 0;
	to[1] = (__u64)address << 32 | CONNECTION_MAPPED;
}

static __always_inline void connection_put_in6(__u64 to[2], const void *from)
{
	if (bpf_probe_read_kernel(to, 2 * sizeof(to[0]), from))
		to[0] = to[1] = 0;
}

static __always_inline void connection_put_addresses(struct wire_connection *c, struct sock *sk)
{
	if (KERNEL_READ(sk, __sk_common.skc_family, 0) == CONNECTION_AF_INET) {
		connection_put_in(c->local, KERNEL_READ(sk, __sk_common.skc_rcv_saddr, 0));
		connection_put_in(c->peer, KERNEL_READ(sk, __sk_common.skc_daddr, 0));
		return;
	}
	if (bpf_core_field_exists(sk->__sk_common.skc_v6_rcv_saddr))
		connection_put_in6(c->local, &sk->__sk_common.skc_v6_rcv_saddr);
	if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
		connection_put_in6(c->peer, &sk->__sk_common.skc_v6_daddr);
}

/* What the program has asked for. */
static __always_inline void connection_put_asked(struct wire_connection *c, __u64 at)
{
	struct connection_asked asked = { 0 };

	if (bpf_probe_read_user(&asked, 2 * sizeof(__u64), (void *)at))
		return;
	c->peer_port = bpf_ntohs(asked.port);
	if (asked.family == CONNECTION_AF_INET)
		connection_put_in(c->peer, asked.in);
	else if (asked.family == CONNECTION_AF_INET6)
		bpf_probe_read_user(c->peer, sizeof(c->peer), (void *)(at + 2 * sizeof(__u32)));
}

/* Of the socket, into the record of this level; `asked`: a struct sockaddr of the present process, where the socket has no peer. Words of the record. */
__noinline int connection_put(__u32 level, __u64 socket, __u64 asked)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, &level);
	struct sock *sk = (void *)socket;
	struct wire_connection *c;

	if (!s)
		return 0;
	c = (void *)s->record.words;
	*c = (struct wire_connection){
		.local_port = KERNEL_READ(sk, __sk_common.skc_num, 0),
		.peer_port = bpf_ntohs(KERNEL_READ(sk, __sk_common.skc_dport, 0)),
	};
	connection_put_addresses(c, sk);
	if (!c->peer_port && asked)
		connection_put_asked(c, asked);
	return WIRE_CONNECTION_WORDS;
}

#endif
