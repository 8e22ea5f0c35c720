/* SPDX-License-Identifier: Apache-2.0 */
/* What is there on this host, and what is not. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/cli/profile/profile.h"
#include "agent/util/file.h"
#include "tests/support/unit.h"

/* No process has it: above the kernel's highest pid. */
#define NOBODY 4194305999u

struct helper {
	sem_t ready;
	sem_t done;
	uint32_t tid;
};

static void *helper_main(void *data)
{
	struct helper *h = data;

	h->tid = (uint32_t)gettid();
	(void)sem_post(&h->ready);
	(void)sem_wait(&h->done);
	return NULL;
}

static void check_one(struct id_list pids, struct id_list tids, int r, const char *expected)
{
	const struct profile_args a = { .pids = pids, .tids = tids };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	assert_int_equal(profile_check(&a, &why), r);
	assert_string_equal(buf_str(&why), expected);
}

static void test_ids(void **state)
{
	const struct id_list none = { 0 };
	uint32_t self = (uint32_t)getpid(), nobody = NOBODY;
	uint32_t both[] = { self, nobody };

	(void)state;
	check_one((struct id_list){ &self, 1 }, (struct id_list){ &self, 1 }, 0, "");
	check_one((struct id_list){ both, 2 }, none, -ESRCH, "there is no process 4194305999");
	check_one(none, (struct id_list){ &nobody, 1 }, -ESRCH, "there is no thread 4194305999");
}

static void test_thread_is_no_process(void **state)
{
	const struct id_list none = { 0 };
	struct helper h;
	pthread_t thread;
	char expected[128];

	(void)state;
	assert_int_equal(sem_init(&h.ready, 0, 0) | sem_init(&h.done, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, helper_main, &h), 0);
	(void)sem_wait(&h.ready);
	check_one(none, (struct id_list){ &h.tid, 1 }, 0, "");
	(void)snprintf(expected, sizeof(expected),
		       "%u is a thread of process %d: use -t %u or -p %d", h.tid, (int)getpid(),
		       h.tid, (int)getpid());
	check_one((struct id_list){ &h.tid, 1 }, none, -ESRCH, expected);
	(void)sem_post(&h.done);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_cpus(void **state)
{
	_cleanup_cpus_ struct cpus online = { 0 };
	unsigned int ids[] = { 0, CPUS_MAX - 1 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	(void)state;
	assert_int_equal(cpus_online(&online), 0);
	assert_int_equal(profile_check(&(struct profile_args){ .cpus = online }, &why), 0);
	assert_int_equal(profile_check(&(struct profile_args){ .cpus = { ids, 2 } }, &why),
			 -ENODEV);
	assert_string_equal(buf_str(&why), "CPU 8191 is not online");
}

static void test_clamp(void **state)
{
	_cleanup_buf_ struct buf note = BUF_INIT(4096);
	char expected[128];
	uint64_t max;

	(void)state;
	if (file_read_u64("/proc/sys/kernel/perf_event_max_sample_rate", &max) < 0) {
		print_message("no perf events\n");
		skip();
	}
	assert_int_equal(profile_clamp_hz(1, &note), 1);
	assert_string_equal(buf_str(&note), "");
	assert_int_equal(profile_clamp_hz(UINT32_MAX, &note), max);
	(void)snprintf(expected, sizeof(expected),
		       "4294967295 Hz is more than kernel.perf_event_max_sample_rate allows: %u Hz "
		       "are used",
		       (unsigned int)max);
	assert_string_equal(buf_str(&note), expected);
}

static const struct unit_test tests[] = {
	TEST(test_ids),
	TEST(test_thread_is_no_process),
	TEST(test_cpus),
	TEST(test_clamp),
};

TEST_MAIN(tests)
