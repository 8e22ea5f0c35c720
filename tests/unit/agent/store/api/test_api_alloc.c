/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a question fails once: the answer is a failure, and nothing leaks. */
#include <string.h>

#include "agent/store/api/api_methods.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/store_sync.h"
#include "tests/support/unit.h"

#include "tests/unit/agent/store/api/api_context.h"

#define SELECT                                                                                    \
	"{\"start\":1,\"end\":\"4102444800000\",\"profileTypeID\":\"" CPU "\",\"labelSelector\":" \
	"\"{service_name=~\\\"o.*\\\"}\""

struct row {
	const char *name, *body;
};

static const struct row rows[] = {
	{ Q "ProfileTypes", "{}" },
	{ Q "LabelNames", "{\"matchers\":[\"{service_name!=\\\"x\\\"}\"]}" },
	{ Q "LabelValues", "{\"name\":\"service_name\"}" },
	{ Q "Series", "{\"labelNames\":[\"service_name\"]}" },
	{ Q "SelectSeries", SELECT ",\"step\":15,\"groupBy\":[\"service_name\"],\"limit\":1}" },
	{ Q "SelectMergeStacktraces",
	  SELECT ",\"stackTraceSelector\":{\"callSite\":[{\"name\":\"main\"}]}}" },
	{ Q "SelectMergeStacktraces", SELECT ",\"format\":2,\"maxNodes\":3}" },
	{ Q "SelectMergeProfile", SELECT "}" },
	{ Q "Diff", "{\"left\":" SELECT "},\"right\":" SELECT "}}" },
	{ Q "GetProfileStats", "{}" },
};

static const struct rpc_method *find_method(const char *path)
{
	for (size_t i = 0; i < rpc_n_methods; i++)
		if (strcmp(rpc_methods[i].path, path) == 0)
			return &rpc_methods[i];
	fail();
	return NULL;
}

static enum rpc_code answer(struct fixture *f, struct rpc_call *call, const char *body)
{
	enum rpc_code code = rpc_call_decode(call, body, strlen(body), false);

	call->now_ms = f->now_ms;
	if (code == RPC_ok)
		code = call->method->check(call);
	if (code != RPC_ok)
		return code;
	if (call->method->at_once)
		return call->method->at_once(call, f->store);
	int r = store_sync_view(f->store, call->job.start_ms, call->job.end_ms, &call->job.view);
	return r < 0 ? api_job_fail_errno(&call->job, r) : call->method->run(call);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	void *own = NULL;
	size_t nth = 0;
	bool failed = true;

	(void)setup_filled(&own);
	while (failed) {
		struct rpc_call call;

		alloc_fail_arm(++nth);
		rpc_call_init(&call, find_method(row->name), CONNECT_JSON);
		enum rpc_code code = answer(own, &call, row->body);
		failed = alloc_fail_disarm();
		assert_int_equal(code, call.job.code);
		assert_int_equal(code == RPC_ok, !failed);
		rpc_call_fini(&call);
	}
	assert_true(nth > 2);
	(void)teardown(&own);
}

/* An account of every size up to the one that is enough: the words and the reason are those of the ceiling. */
static void test_account(void **state)
{
	const struct row *row = *state;
	enum rpc_code code = RPC_internal;
	void *own = NULL;
	size_t n_refused = 0;

	(void)setup_filled(&own);
	for (size_t max = 0; code != RPC_ok; max += 4096) {
		struct rpc_call call;

		rpc_call_init(&call, find_method(row->name), CONNECT_JSON);
		call.job.memory.max_bytes = max;
		code = answer(own, &call, row->body);
		if (code != RPC_ok) {
			assert_int_equal(code, RPC_resource_exhausted);
			assert_int_equal(call.job.refusal, STORE_REQUEST_QUERY);
			assert_non_null(strstr(buf_str(&call.job.why), "the answer is too large"));
			n_refused++;
		}
		rpc_call_fini(&call);
	}
	assert_int_equal(n_refused > 0, strcmp(row->name, Q "GetProfileStats") != 0);
	(void)teardown(&own);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, body),
	TEST_ROWS(test_account, rows, body),
};

TEST_MAIN(tests)
