/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TCP: connections that are made and accepted, by the stack that does, and segments that are sent again; each with both ends.
 *
 *	sys_exit(connect, accept, accept4): in the context of the task, and the socket has its ports
 *	tcp_retransmit_skb: from a timer, or on behalf of a segment that has come, so in nobody's context
 *
 * A connect that goes on in the background (EINPROGRESS) counts as one. Where it has failed, the socket has lost its peer: that is read where the program has
 * asked for it. A segment that is sent again is its socket's control group's: which process has the socket is not known.
 */
#ifndef XAGENT_BPF_EVENTS_TCP_BPF_H
#define XAGENT_BPF_EVENTS_TCP_BPF_H

#include "bpf/call.bpf.h"
#include "bpf/capture.bpf.h"
#include "bpf/connection.bpf.h"

/* include/uapi/asm-generic/errno.h, include/linux/errno.h */
#define TCP_IN_PROGRESS (-115)
#define TCP_ALREADY (-114)
#define TCP_IS_CONNECTED (-106)
#define TCP_WILL_RESTART (-512)

/* What was made outside of all control groups has nothing that it could be called after: it is the kernel's. */
#define TCP_ROOT_CGROUP 1

static __always_inline bool tcp_is_accept(__u64 call)
{
	return call == CALL_ACCEPT || call == CALL_ACCEPT4;
}

/* Another call has begun it, or will go on with it. */
static __always_inline bool tcp_is_begun(long returned)
{
	return returned == TCP_ALREADY || returned == TCP_IS_CONNECTED ||
	       returned == TCP_WILL_RESTART;
}

/* The socket of the call, in nobody's hands but the task's; 0: it is none of TCP, or there is nothing to tell. */
static __always_inline __u64 tcp_socket_of(const struct pt_regs___kernel *regs, __u64 call,
					   long returned)
{
	if (call_is_compat(regs))
		return 0;
	if (tcp_is_accept(call))
		return returned < 0 ? 0 : connection_socket((__u32)returned);
	return tcp_is_begun(returned) ? 0 : connection_socket((__u32)regs_first_argument(regs));
}

SEC("?tp_btf/sys_exit")
int tcp_call(__u64 *ctx)
{
	struct pt_regs___kernel *regs = (void *)ctx[0];
	long returned = (long)ctx[1];
	__u64 call = regs_call(regs);
	struct moment m = { .ctx = ctx,
			    .event = EVENT_TCP,
			    .source = EVENT_SOURCE_TCP,
			    .user_only = true,
			    .values = { 1 } };
	struct wire_counters *count;

	if (call != CALL_CONNECT && !tcp_is_accept(call))
		return 0;
	m.socket = tcp_socket_of(regs, call, returned);
	if (!m.socket)
		return 0;
	if (tcp_is_accept(call)) {
		m.reason = WIRE_TCP_ACCEPT;
	} else {
		bool failed = returned < 0 && returned != TCP_IN_PROGRESS;

		m.reason = WIRE_CALL(WIRE_TCP_CONNECT, failed ? -returned : 0);
		m.asked = call_second_argument(regs);
	}
	count = moment_count(EVENT_TCP);
	if (count)
		capture(&m, count);
	return 0;
}

/* Of what made the socket, or the one that it was accepted from. */
static __always_inline __u64 tcp_cgroup(struct sock *sk)
{
	if (!bpf_core_field_exists(sk->sk_cgrp_data) ||
	    !bpf_core_field_exists(struct sock_cgroup_data, cgroup) ||
	    !bpf_core_field_exists(struct cgroup, kn) ||
	    !bpf_core_field_exists(struct kernfs_node, id))
		return 0;
	return BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
}

/* `ctx`: the tracepoint's arguments. To the verifier a pointer to a socket is no number, as it has to be for a function of its own: so it is read. */
static __always_inline void tcp_emit(struct scratch *s, const struct moment *m, __u64 *ctx,
				     struct wire_counters *count)
{
	__u64 socket = 0;

	bpf_probe_read_kernel(&socket, sizeof(socket), ctx);
	begin_record(s, m, bpf_get_current_task_btf(), 0, 0);
	s->record.head.exec_id = 0;
	s->record.head.cgroup_id = tcp_cgroup((void *)socket);
	if (s->record.head.cgroup_id <= TCP_ROOT_CGROUP)
		s->record.head.flags |= WIRE_KTHREAD;
	s->record.head.n_kernel = connection_put(s->level, socket, 0);
	if (emit_record(s, sizeof(struct wire_sample) + sizeof(struct wire_connection),
			BPF_RB_NO_WAKEUP)) {
		count->lost++;
		thin_leave(m->source, m->values);
	} else {
		count->emitted++;
	}
}

SEC("?tp_btf/tcp_retransmit_skb")
int tcp_retransmit(__u64 *ctx)
{
	struct moment m = { .event = EVENT_TCP,
			    .source = EVENT_SOURCE_TCP,
			    .reason = WIRE_TCP_RETRANSMIT,
			    .values = { 1 } };
	struct wire_counters *count = moment_count(EVENT_TCP);
	struct scratch *s;

	if (!count)
		return 0;
	/* Whose it is cannot be told. */
	if (filter_pids || filter_tids || filter_cgroup) {
		count->filtered++;
		return 0;
	}
	if (!thin_passes(m.event, m.source, m.values)) {
		count->filtered++;
		count->thinned++;
		return 0;
	}
	s = scratch_claim();
	if (!s) {
		count->lost++;
		count->lost_nested++;
		thin_leave(m.source, m.values);
		return 0;
	}
	tcp_emit(s, &m, ctx, count);
	scratch_release(s);
	return 0;
}

#endif
