/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sample/sample_ring.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "agent/sample/end_record.h"
#include "agent/sample/name_record.h"
#include "agent/util/clock.h"

/* Of a record: no further one. libbpf returns it. */
#define IS_ENOUGH (-ECANCELED)

static void on_name(struct sample_ring *r, const void *data, size_t size)
{
	const struct wire_name *name;

	if (name_record_parse(data, size, &name) < 0)
		telemetry_count(r->telemetry, TELEMETRY_code_names_malformed, 1);
	else if (r->on_name)
		r->on_name(name, r->name_data);
}

static void on_end(struct sample_ring *r, const void *data, size_t size)
{
	const struct wire_end *end;

	if (end_record_parse(data, size, &end) < 0)
		telemetry_count(r->telemetry, TELEMETRY_ends_malformed, 1);
	else if (r->on_end)
		r->on_end(end, r->end_data);
}

static void on_waker(struct sample_ring *r, const void *data, size_t size)
{
	struct sample waker;

	telemetry_count(r->telemetry, TELEMETRY_wakers_received, 1);
	if (waker_parse(data, size, &waker) < 0) {
		telemetry_count(r->telemetry, TELEMETRY_wakers_malformed, 1);
		return;
	}
	r->sample_ns = waker.head->time_ns;
	if (r->on_waker)
		r->on_waker(&waker, r->waker_data);
}

static void on_sample(struct sample_ring *r, const void *data, size_t size)
{
	struct sample sample;

	telemetry_count(r->telemetry, TELEMETRY_samples_received, 1);
	if (sample_parse(data, size, &sample) < 0) {
		telemetry_count(r->telemetry, TELEMETRY_samples_dropped_malformed, 1);
		return;
	}
	r->sample_ns = sample.head->time_ns;
	r->fn(&sample, r->data);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct wire_record *record = data;
	struct sample_ring *r = ctx;

	if (size >= sizeof(*record) && record->type == WIRE_NAME)
		on_name(r, data, size);
	else if (size >= sizeof(*record) && record->type == WIRE_END)
		on_end(r, data, size);
	else if (size >= sizeof(*record) && record->type == WIRE_WAKER)
		on_waker(r, data, size);
	else
		on_sample(r, data, size);
	return r->sample_ns > r->younger_ns || clock_mono_ns() > r->end_ns ? IS_ENOUGH : 0;
}

int sample_ring_init(struct sample_ring *r, int map_fd, const struct sampler_options *o)
{
	*r = (struct sample_ring){
		.on_name = o->on_name,
		.name_data = o->name_data,
		.on_end = o->on_end,
		.end_data = o->end_data,
		.on_waker = o->on_waker,
		.waker_data = o->waker_data,
		.telemetry = o->telemetry,
	};
	r->ring = ring_buffer__new(map_fd, on_record, r, NULL);
	return r->ring ? 0 : -errno;
}

void sample_ring_fini(struct sample_ring *r)
{
	ring_buffer__free(r->ring);
}

int sample_ring_fd(const struct sample_ring *r)
{
	return ring_buffer__epoll_fd(r->ring);
}

int sample_ring_read(struct sample_ring *r, uint64_t budget_ns, sampler_fn fn, void *data,
		     uint64_t *ret_read_ns)
{
	uint64_t now = clock_mono_ns();
	int result;

	r->fn = fn;
	r->data = data;
	r->sample_ns = 0;
	r->younger_ns = budget_ns ? UINT64_MAX : now;
	r->end_ns = budget_ns ? now + budget_ns : UINT64_MAX;
	result = ring_buffer__consume(r->ring);
	if (ret_read_ns)
		*ret_read_ns = result == IS_ENOUGH ? r->sample_ns : UINT64_MAX;
	return result < 0 && result != IS_ENOUGH ? result : 0;
}
