/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block I/O that is under way. Its sample comes when it is submitted, with its stack; how long it took is told when it has ended, by its number. Until then it is known here which
 * stack of the open interval it has. What takes longer than an interval has in each of them what passed meanwhile.
 */
#include "agent/profile/session_private.h"

#include <stdlib.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/saturate.h"

/* Numbers are given in a row, so that each has a place of its own among the last so many. */
#define IO_TABLE_PLACES 8192
#define IO_DEVICES_DIR "/sys/dev/block"

/* By that many looks it was not under way any more: its end was lost, or it has never come. */
#define IO_MAX_MISSED 2

struct io {
	uint64_t id;	       /* 0: none */
	struct kept_stack kept;
	int64_t n;	       /* that it stands for */
	uint64_t since_ns;     /* CLOCK_MONOTONIC */
	uint64_t told_ns;      /* that its stacks have so far */
	uint32_t n_missed;
	bool is_seen; /* by the look under way */
};

struct io_table {
	struct io places[IO_TABLE_PLACES];
	size_t n; /* taken */
};

const char *session_io_device(struct session *s, uint32_t io)
{
	return io_devices_name(&s->ios.devices, IO_DEVICES_DIR, WIRE_IO_MAJOR(io),
			       WIRE_IO_MINOR(io));
}

static struct io *place_of(struct io_table *t, uint64_t id)
{
	return &t->places[id % IO_TABLE_PLACES];
}

static void forget(struct io_table *t, struct io *io)
{
	if (io->id)
		t->n--;
	kept_stack_fini(&io->kept);
	*io = (struct io){ 0 };
}

void session_io_begin(struct session *s, const struct sample *sample)
{
	uint64_t id = sample->head->values[WIRE_VALUE_ID];
	struct io *io;

	if (!s->ios.table)
		s->ios.table = calloc(1, sizeof(*s->ios.table));
	if (!s->ios.table || !id)
		return;
	io = place_of(s->ios.table, id);
	if (io->id)
		telemetry_count(s->options.telemetry, TELEMETRY_ends_missing, 1);
	forget(s->ios.table, io);
	*io = (struct io){
		.id = id,
		.kept = { .stack = s->interval->last },
		.n = (int64_t)MIN_OF(sample->head->values[WIRE_VALUE_IOS], (uint64_t)INT64_MAX),
		.since_ns = sample->head->time_ns,
	};
	s->ios.table->n++;
}

/* Up to so long after it began. */
static void tell(struct io *io, uint64_t duration_ns)
{
	int64_t *sum = io->kept.stack ? stack_values(io->kept.stack) : NULL;
	int64_t ns;

	if (!sum || duration_ns <= io->told_ns)
		return;
	if (__builtin_mul_overflow((int64_t)MIN_OF(duration_ns - io->told_ns, (uint64_t)INT64_MAX),
				   io->n, &ns))
		ns = INT64_MAX;
	*sum = saturate_add(*sum, ns);
	io->told_ns = duration_ns;
}

void session_io_end(struct session *s, const struct wire_end *end)
{
	struct io *io = s->ios.table && end->id ? place_of(s->ios.table, end->id) : NULL;

	/* One whose sample nobody wanted is not here. */
	if (!io || io->id != end->id)
		return;
	tell(io, end->values[0]);
	forget(s->ios.table, io);
}

static void see(uint64_t id, void *data)
{
	struct io *io = place_of(data, id);

	if (io->id == id)
		io->is_seen = true;
}

/* One that is not under way has an end in the ring, or it was lost. */
static void look(struct session *s, struct io *io, uint64_t now_ns)
{
	if (io->is_seen)
		tell(io, now_ns - MIN_OF(now_ns, io->since_ns));
	io->n_missed = io->is_seen ? 0 : io->n_missed + 1;
	io->is_seen = false;
	if (io->n_missed >= IO_MAX_MISSED) {
		telemetry_count(s->options.telemetry, TELEMETRY_ends_missing, 1);
		forget(s->ios.table, io);
		return;
	}
	kept_stack_look(&io->kept);
}

void session_io_look(struct session *s)
{
	struct io_table *t = s->ios.table;
	uint64_t now_ns = clock_mono_ns();

	io_devices_forget(&s->ios.devices);
	if (!t || !t->n || sampler_under_way(s->sampler, see, t) < 0)
		return;
	for (size_t i = 0; i < IO_TABLE_PLACES; i++)
		if (t->places[i].id)
			look(s, &t->places[i], now_ns);
}

void session_io_carry(struct session *s, struct interval *next)
{
	struct io_table *t = s->ios.table;

	for (size_t i = 0; t && t->n && i < IO_TABLE_PLACES; i++)
		if (t->places[i].id && kept_stack_carry(&t->places[i].kept, s->interval, next) < 0)
			telemetry_count(s->options.telemetry, TELEMETRY_ends_missing, 1);
}

void session_io_close(struct session *s)
{
	for (size_t i = 0; s->ios.table && i < IO_TABLE_PLACES; i++)
		forget(s->ios.table, &s->ios.table->places[i]);
	free(TAKE_PTR(s->ios.table));
}
