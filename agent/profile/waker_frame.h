/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame between a wait's stack and that of who has ended it: "[woken by COMM]". Each name once in an interval, by an index.
 *
 * What the kernel half sends is the stack of whatever ran then. When it was interrupted, it has nothing to do with it: the kernel's functions tell, of which one is an entry of interrupts.
 */
#ifndef XAGENT_AGENT_PROFILE_WAKER_FRAME_H
#define XAGENT_AGENT_PROFILE_WAKER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/profile/place_table.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"
#include "bpf/wire.h"

struct waker_name {
	char comm[WIRE_COMM_BYTES]; /* of the process; "": it was an interrupt */
	uint64_t is_doubtful; /* 1: the kernel's functions were not read, or not all of them */
};

struct waker_names {
	struct place_table places;
};

struct waker_name waker_name_of(const char *comm);

/* Memory is the arena's. 0 or -ENOMEM (its ceiling included). */
int waker_names_get(struct waker_names *t, struct arena *arena, const struct waker_name *name,
		    uint32_t *ret_index);
/* NULL: there is none of that index. Borrowed until the next get. */
const struct waker_name *waker_names_at(const struct waker_names *t, size_t i);

/* "[woken by nginx]", "[woken by interrupt]"; where it is doubtful, or the kernel's functions have no names (`has_names`), "[woken while nginx ran]". Control
 * characters are replaced. */
void waker_name_text(const struct waker_name *name, bool has_names, struct buf *out);

/* Of such a text, "nginx", "interrupt" or "while nginx ran"; empty of a function's name. */
struct str waker_name_in(const char *text);

/* Whether that function of the kernel is what an interrupt begins with. Exceptions are none: who has a page fault wakes up others itself. */
bool waker_is_interrupt_entry(const char *function);

#endif
