/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of a question fails once: the answer is a failure, and nothing leaks. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "agent/store/api_methods.h"
#include "agent/util/macro.h"
#include "tests/support/alloc_fail.h"

#include "tests/unit/agent/store/api_world.h"

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
	int r = store_view_take(f->store, call->job.start_ms, call->job.end_ms, &call->job.view);
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

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(rows)];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].body,
						.test_func = test_row,
						.initial_state = (void *)&rows[i] };
	return cmocka_run_group_tests_name("agent/store/api_alloc", tests, NULL, NULL);
}
