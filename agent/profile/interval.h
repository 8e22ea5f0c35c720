/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of one interval: unique stacks by series, with the sums of their values. A series is one label set and one source of events.
 *
 * An interval is filled in the loop thread, closed, and then belongs to the worker that names and encodes it; everything in it lies
 * in one arena that is freed at once. It holds references to the label sets and files of its stacks.
 */
#ifndef XAGENT_AGENT_PROFILE_INTERVAL_H
#define XAGENT_AGENT_PROFILE_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/process/mapping.h"
#include "agent/profile/anon_table.h"
#include "agent/profile/code_table.h"
#include "agent/profile/tag.h"
#include "agent/profile/tcp_table.h"
#include "agent/profile/waker_frame.h"
#include "agent/profile/waker_table.h"
#include "agent/sample/event.h"
#include "agent/target/label.h"
#include "agent/unwind/frame_ref.h"
#include "agent/util/arena.h"
#include "agent/util/cleanup.h"
#include "agent/util/hash.h"

/* The deepest stack: its waker, what was waited for, kernel, user, why it ends. */
#define STACK_MAX_FRAMES \
	(WAKER_MAX_FRAMES + WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_FRAMES + 2)

/* One unique stack: n_kernel frames in the kernel (before them all of a waker's, outermost first), then n_user user frames, leaf first; then the sums of the event's values. */
struct stack {
	struct hash_node node;
	uint64_t count;	    /* samples */
	uint64_t n_again;   /* of them, those that another stack has, too */
	struct stack *next; /* of the same series */
	struct series *series;
	const struct sample_tag *tag; /* NULL: none was asked for */
	uint16_t n_kernel;
	uint16_t n_user;
	struct frame_ref frames[];
};

struct series {
	struct labels *labels; /* a reference */
	enum event event;
	uint16_t source; /* below EVENT_ALL_SOURCES */
	struct stack *stacks;
	size_t n_stacks;
	uint64_t n_samples;
	uint64_t n_again; /* of them, those that another series has, too */
	struct series *next;
	struct hash_node node; /* by series_hash() */
};

struct interval {
	struct arena arena;
	struct hash_table stacks; /* those of series that were dropped included */
	size_t n_stacks;
	struct stack *last; /* that something was added to */
	struct series *series;
	struct hash_table by_labels; /* the same: a host may have one a process */
	size_t n_series;
	struct anon_table anon;
	struct code_table code;
	struct tcp_table connections;
	struct waker_names wakers;
	bool no_kernel; /* frames of wakers in the kernel are not wanted; set before the first interval_add() */
	struct tagging tagging; /* may be set before the first interval_add() */
	struct hash_table tags;
	struct mapped_file **files; /* references, by ascending id */
	size_t n_files;
	uint64_t n_samples; /* each once */
	uint64_t begin_real_ns;
	uint64_t end_real_ns;
	uint64_t periods[EVENT_MAX]; /* in the units of bpf/events.h */
};

/* `cpu_period_ns` is what one timer tick is worth: 1e9 / Hz. Other events have the period 1. */
int interval_new(uint64_t cpu_period_ns, size_t max_bytes, struct interval **ret_interval);
/* Loop thread: drops the references. NULL-safe. */
void interval_free(struct interval *i);
DEFINE_CLEANUP(struct interval *, interval_free);

/* A server keeps one profile a series and millisecond: none of this interval is to have the time of one before. */
void interval_end_after(struct interval *i, uint64_t last_profile_ns);

/* The sums of its values: event_n_values(), none below 0. */
static inline int64_t *stack_values(struct stack *s)
{
	return (int64_t *)(s->frames + s->n_kernel + s->n_user);
}

static inline const int64_t *stack_values_const(const struct stack *s)
{
	return (const int64_t *)(s->frames + s->n_kernel + s->n_user);
}

/* A stack that values may come to yet (kept_stack.h), or have not come to: it is not shown. */
static inline bool stack_is_empty(const struct stack *s)
{
	bool is = s->count == 0;

	for (size_t v = 0; v < event_n_values(s->series->event); v++)
		is &= stack_values_const(s)[v] == 0;
	return is;
}

/* What texts and trees show of a stack: samples of CPU time, of other events the sum of their first value. */
static inline int64_t stack_weight(const struct stack *s)
{
	return s->series->event == EVENT_CPU ? (int64_t)s->count : stack_values_const(s)[0];
}

/* Equal samples, borrowed. */
struct samples {
	struct labels *labels;
	enum event event;
	uint16_t source; /* always of this event */
	const int64_t *
		values; /* of all of them together: event_n_values(), none below 0 but for taking back what was added */
	const struct frame_ref
		*frames; /* n_kernel, then n_user, leaf first; as the interval knows them */
	uint16_t n_kernel, n_user;
	uint64_t count;
	uint64_t
		n_again; /* of them, those that are added to another series, too: they count there */
	/* What a tag is made of, as far as the interval asks for it. */
	uint32_t pid;
	const char *comm; /* NULL: not asked for */
	enum wait_reason reason;
	const char *thread; /* its name; NULL: not asked for, or not known */
	uint32_t tier;
	uint32_t error;	    /* that a system call ended with */
	uint32_t io;	    /* WIRE_IO() of block I/O, with … */
	const char *device; /* … what its disk is called */
};

/* Counts them, and adds their values. *ret_is_new tells that the stack was not there yet, so that the caller looks after its files. 0, or -ENOMEM (ceiling
 * included: the samples are the caller's to count). */
int interval_add(struct interval *i, const struct samples *samples, bool *ret_is_new);

/* Of interval->by_labels. */
static inline uint64_t series_hash(const struct labels *labels, uint16_t source)
{
	return labels->hash + source;
}

/* The series with these labels, or NULL. */
struct series *interval_series(const struct interval *i, const struct labels *labels,
			       uint16_t source);
/* The series gets other labels; where another one of its source has them already, that one takes in its stacks and `s` is gone. After the last
 * interval_add(): equal stacks of two series stay two. 0 or -ENOMEM: nothing was changed. */
int interval_relabel(struct interval *i, struct series *s, struct labels *labels);
/* Forgets the series and its samples; the number of those that it alone has is returned. After the last interval_add(), too. */
uint64_t interval_drop(struct interval *i, struct series *s);
/* Adds all samples of the series, of another interval, to this one, under its labels. *ret_n is how many of its own found room: on -ENOMEM not all of
 * them. */
int interval_carry(struct interval *i, const struct interval *from, const struct series *s,
		   uint64_t *ret_n);

/* What a stack is made of, as interval_add() takes it: borrowed, without labels, values and samples. */
struct samples interval_samples_of(const struct stack *s);
/* The same stack in another interval, without any samples, under these labels. 0 or -ENOMEM. */
int interval_carry_stack(struct interval *i, const struct interval *from, const struct stack *s,
			 struct labels *labels, struct stack **ret_stack);

/* Its service_name, or "process". */
const char *series_name(const struct series *s);

/* The file with this id, or NULL. */
struct mapped_file *interval_file(const struct interval *i, uint32_t id);
/* Takes a reference; nothing happens if it is there. */
int interval_add_file(struct interval *i, struct mapped_file *f);

/* The frame of a place in memory without a file: equal places have equal frames. Takes a reference to place->jit. 0 or -ENOMEM (ceiling
 * included). */
int interval_anon_frame(struct interval *i, const struct anon_place *place,
			struct frame_ref *ret_frame);
/* The frame of a runtime's function: equal ones have equal frames. Takes a reference to code->name. 0 or -ENOMEM (ceiling included). */
int interval_code_frame(struct interval *i, const struct code_place *code,
			struct frame_ref *ret_frame);
/* NULL: the frame is none of these. Borrowed until the next one is added. */
const struct code_place *interval_code(const struct interval *i, struct frame_ref frame);
/* A frame that is a TCP connection. 0 or -ENOMEM. */
int interval_connection_frame(struct interval *i, const struct tcp_connection *connection,
			      struct frame_ref *ret_frame);
/* NULL: the frame is none. Borrowed until the next one is added. */
const struct tcp_connection *interval_connection(const struct interval *i, struct frame_ref frame);
/* A frame that is a waker's name. 0 or -ENOMEM. */
int interval_waker_frame(struct interval *i, const struct waker_name *name,
			 struct frame_ref *ret_frame);
/* NULL: the frame is none, or an interrupt without a name. Borrowed until the next one is added. */
const struct waker_name *interval_waker(const struct interval *i, struct frame_ref frame);
/* The place of a frame; NULL: it is none of these. Borrowed until the next one is added. */
const struct anon_place *interval_anon(const struct interval *i, struct frame_ref frame);

#endif
