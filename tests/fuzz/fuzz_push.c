/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole path of a Push, from the bytes of a request to the segments of a store, with all its layers of compression.
 *
 * The first byte says what the rest is: a request, as it came or to be compressed here, so that what is made up goes through inflation and not
 * into a checksum; or one profile, to be compressed and put into a request.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "agent/push/push.pb-c.h"
#include "agent/store/api/push.h"
#include "agent/util/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	INPUT_JSON = 1,		/* else proto */
	INPUT_IS_GZIP = 2,	/* the request says of itself */
	INPUT_GZIP_REQUEST = 4, /* compressed here, and it says so */
	INPUT_PROFILE = 8,	/* the rest is a profile */
	INPUT_GZIP_PROFILE = 16,
	INPUT_TWICE = 32, /* the profile comes twice */
};

#define STORE_BYTES ((size_t)4 << 20)

/* Made once, kept to the end. */
static struct context {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
} context;

static uint64_t context_now_ns(void)
{
	return (uint64_t)1700000000 * NS_PER_S;
}

static void make_context(void)
{
	struct store_options options = STORE_OPTIONS_INIT;
	struct buf why = BUF_INIT(1000);

	options.max_bytes = STORE_BYTES;
	options.now_ns = context_now_ns;
	assert(loop_new(&context.loop) == 0);
	assert(worker_new(context.loop, 4, &context.worker) == 0);
	assert(telemetry_new(&context.telemetry) == 0);
	assert(store_new(context.loop, context.worker, context.telemetry, &options, &why,
			 &context.store) == 0);
}

static void gzip(const void *bytes, size_t n, struct buf *out)
{
	z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)n };

	assert(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	size_t room = deflateBound(&z, n);
	assert(buf_reserve(out, room) == 0);
	z.next_out = (Bytef *)out->data;
	z.avail_out = (uInt)room;
	assert(deflate(&z, Z_FINISH) == Z_STREAM_END);
	out->len = room - z.avail_out;
	(void)deflateEnd(&z);
}

static void put_request(const void *pprof, size_t n, size_t times, struct buf *out)
{
	Push__V1__LabelPair pair = PUSH__V1__LABEL_PAIR__INIT, *pairs[] = { &pair };
	Push__V1__RawSample sample = PUSH__V1__RAW_SAMPLE__INIT, *samples[] = { &sample, &sample };
	Push__V1__RawProfileSeries one = PUSH__V1__RAW_PROFILE_SERIES__INIT, *series[] = { &one };
	Push__V1__PushRequest request = PUSH__V1__PUSH_REQUEST__INIT;

	pair.name = (char *)"__name__";
	pair.value = (char *)"process_cpu";
	sample.raw_profile = (ProtobufCBinaryData){ n, (uint8_t *)pprof };
	one.labels = pairs;
	one.n_labels = 1;
	one.samples = samples;
	one.n_samples = times;
	request.series = series;
	request.n_series = 1;
	assert(buf_reserve(out, push__v1__push_request__get_packed_size(&request)) == 0);
	out->len = push__v1__push_request__pack(&request, (uint8_t *)out->data);
}

static void on_done(struct push *push)
{
	assert(push->call.job.code < RPC_CODE_MAX);
	/* So that it is known to have come. */
	push->call.now_ms++;
}

static void check_store(const struct store_stats *before)
{
	struct store_stats after;

	store_stats(context.store, &after);
	assert(after.bytes <= STORE_BYTES);
	assert(after.n_refused_profiles - before->n_refused_profiles <=
	       after.n_received_profiles - before->n_received_profiles);
	assert(after.n_received_profiles - before->n_received_profiles <= PUSH_MAX_PROFILES);
}

static void push(const struct buf *body, enum connect_codec codec, bool is_gzip)
{
	struct store_stats before;
	struct push p;

	store_stats(context.store, &before);
	push_init(&p, context.store, codec, NULL);
	p.done = on_done;
	p.call.is_gzip = is_gzip;
	buf_init(&p.call.received, body->len);
	(void)buf_append(&p.call.received, buf_str(body), body->len);
	push_begin(&p);
	store_drain(context.store);
	assert(p.call.now_ms == 1);
	assert((p.call.job.code == RPC_ok) == (p.call.job.why.len == 0));
	assert(p.call.budget.left_bytes <= p.call.budget.max_bytes);
	assert(p.budget.left.inflated_bytes <= PUSH_MAX_INFLATED_BYTES);
	assert(!p.call.request || codec != CONNECT_PROTO || p.call.n_elements <= RPC_MAX_ELEMENTS);
	check_store(&before);
	push_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = 3 * size + (1 << 20);
	struct buf profile = BUF_INIT(room), request = BUF_INIT(room), packed = BUF_INIT(room);

	if (size == 0)
		return 0;
	if (!context.loop)
		make_context();
	uint8_t kind = *data++;
	size--;
	if (kind & INPUT_GZIP_PROFILE)
		gzip(data, size, &profile);
	else
		(void)buf_append(&profile, data, size);
	if (kind & INPUT_PROFILE)
		put_request(buf_str(&profile), profile.len, kind & INPUT_TWICE ? 2 : 1, &request);
	else
		(void)buf_append(&request, data, size);
	if (kind & INPUT_GZIP_REQUEST)
		gzip(buf_str(&request), request.len, &packed);
	push(kind & INPUT_GZIP_REQUEST ? &packed : &request,
	     kind & INPUT_JSON ? CONNECT_JSON : CONNECT_PROTO,
	     kind & (INPUT_GZIP_REQUEST | INPUT_IS_GZIP));
	buf_fini(&profile);
	buf_fini(&request);
	buf_fini(&packed);
	return 0;
}
