/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP connections in the stacks of one interval: each once, by an index.
 *
 * A profile tells peers: the end that a service is known by, for a port that the kernel chose would make as many stacks as there are connections. A live table
 * tells connections, with both ends and their process.
 */
#ifndef XAGENT_AGENT_PROFILE_TCP_TABLE_H
#define XAGENT_AGENT_PROFILE_TCP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/profile/place_table.h"
#include "agent/util/buf.h"
#include "bpf/wire.h"

struct tcp_connection {
	struct wire_connection ends;
	uint32_t kind;	/* WIRE_TCP_* */
	uint32_t error; /* that connect(2) has returned; 0: none */
	uint32_t pid;	/* 0: not known, or not told */
	uint32_t zero;
	char comm[WIRE_COMM_BYTES]; /* of the process, filled up with NUL; "": likewise */
};

struct tcp_table {
	struct place_table places;
};

/* The same with what a profile tells of it. */
struct tcp_connection tcp_connection_peer(const struct tcp_connection *c);

/* Memory is the arena's. 0 or -ENOMEM (its ceiling included). */
int tcp_table_get(struct tcp_table *t, struct arena *arena, const struct tcp_connection *c,
		  uint32_t *ret_index);
/* NULL: there is none of that index. Borrowed until the next get. */
const struct tcp_connection *tcp_table_at(const struct tcp_table *t, size_t i);

/* "connect 10.0.0.1:80", "accept [::1] on 80", "retransmit 10.0.0.1"; of a live table
 * "connect 10.0.0.2:40000 -> 10.0.0.1:80 by curl[17]"; one that has failed "connect 10.0.0.1:80 ECONNREFUSED". Control characters are replaced. */
void tcp_connection_text(const struct tcp_connection *c, struct buf *out);

#endif
