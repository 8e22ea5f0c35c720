/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the store: the first byte chooses method, codec and compression, the rest is the body. What can be read is answered
 * from a store with a profile in it, and says the same in both codecs.
 */
#include <assert.h>
#include <stdlib.h>

#include "agent/store/api/api_methods.h"
#include "agent/util/clock.h"
#include "pprof/pprof.h"
#include "tests/support/store_sync.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pushes of the input go into it, too, and the oldest out. */
#define STORE_BYTES ((size_t)4 << 20)

/* Made once, kept to the end. */
static struct context {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
	int64_t now_ms;
} context;

static uint64_t context_now_ns(void)
{
	return (uint64_t)1700000000 * NS_PER_S;
}

static void put_profile(void)
{
	static const struct label items[] = { { "__name__", "process_cpu" },
					      { "service_name", "a" } };
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;
	const struct pprof_function function = { .name = "main" };
	struct pprof_builder *b;
	struct pprof_bytes bytes;
	struct labels *labels;
	struct pprof_line line = { 0 };
	uint64_t location;

	options.period = 10000000;
	options.time_ns = (int64_t)(context_now_ns() - NS_PER_S);
	assert(pprof_builder_new(&options, &b) == 0);
	assert(pprof_builder_function(b, &function, &line.function_id) == 0);
	assert(pprof_builder_location(b, 0, 0, &line, 1, &location) == 0);
	assert(pprof_builder_sample(b, &location, 1, &(int64_t){ 7 }, NULL, 0) == 0);
	assert(pprof_builder_encode(b, &bytes) == 0);
	assert(labels_new(items, 2, &labels) == 0);
	assert(store_sync_put(context.store, labels, bytes.data, bytes.n, &BUF_INIT(1000)) ==
	       STORE_KEPT);
	labels_unref(labels);
	pprof_bytes_fini(&bytes);
	pprof_builder_free(b);
}

static void make_context(void)
{
	struct store_options options = STORE_OPTIONS_INIT;
	struct buf why = BUF_INIT(1000);

	options.max_bytes = STORE_BYTES;
	options.now_ns = context_now_ns;
	context.now_ms = (int64_t)(context_now_ns() / NS_PER_MS);
	assert(loop_new(&context.loop) == 0);
	assert(worker_new(context.loop, 4, &context.worker) == 0);
	assert(telemetry_new(&context.telemetry) == 0);
	assert(store_new(context.loop, context.worker, context.telemetry, &options, &why,
			 &context.store) == 0);
	put_profile();
}

/* As JSON and back it is the same message. */
static void check_round_trip(const ProtobufCMessage *message)
{
	struct buf text = BUF_INIT((size_t)64 << 20), again = BUF_INIT((size_t)64 << 20);
	struct buf why = BUF_INIT(1000);
	struct proto_budget budget;
	ProtobufCMessage *back = NULL;

	proto_budget_init(&budget, (size_t)256 << 20);
	assert(proto_json_write(message, &text) == 0);
	int r = proto_json_read(message->descriptor, &budget,
				(struct str){ buf_str(&text), text.len }, &why, &back);
	/* It may have more values than a text may. */
	if (r == PROTO_JSON_READ) {
		assert(proto_json_write(back, &again) == 0);
		assert(again.len == text.len);
		protobuf_c_message_free_unpacked(back, &budget.allocator);
	}
	buf_fini(&text);
	buf_fini(&again);
	buf_fini(&why);
}

static void answer(struct rpc_call *call)
{
	call->now_ms = context.now_ms;
	if (call->method->check(call) != RPC_ok)
		return;
	if (call->method->at_once) {
		(void)call->method->at_once(call, context.store);
		return;
	}
	assert(store_sync_view(context.store, call->job.start_ms, call->job.end_ms,
			       &call->job.view) == 0);
	(void)call->method->run(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_call call;

	if (size == 0)
		return 0;
	if (!context.loop)
		make_context();
	const struct rpc_method *method = &rpc_methods[(data[0] & 15) % rpc_n_methods];
	rpc_call_init(&call, method, data[0] & 16 ? CONNECT_JSON : CONNECT_PROTO);
	if (rpc_call_decode(&call, data + 1, size - 1, data[0] & 32) == RPC_ok) {
		assert(call.request && call.job.code == RPC_ok);
		check_round_trip(call.request);
		answer(&call);
	}
	assert(call.job.code < RPC_CODE_MAX);
	assert((call.job.code == RPC_ok) == (call.job.why.len == 0));
	rpc_call_fini(&call);
	return 0;
}
