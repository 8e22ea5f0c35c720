/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions of C libraries wait for which kind of lock. */
#include "agent/profile/lock_kind.h"
#include "tests/support/unit.h"

static const struct row {
	const char *name;
	enum lock_kind kind;
} rows[] = {
	{ "pthread_mutex_lock", LOCK_MUTEX },
	{ "___pthread_mutex_lock", LOCK_MUTEX },
	{ "__GI___pthread_mutex_lock", LOCK_MUTEX },
	{ "__pthread_mutex_lock_full", LOCK_MUTEX },
	{ "__pthread_mutex_cond_lock", LOCK_MUTEX },
	{ "__pthread_mutex_timedlock", LOCK_MUTEX },
	{ "pthread_cond_wait", LOCK_CONDITION },
	{ "__pthread_cond_wait_common", LOCK_CONDITION },
	{ "___pthread_cond_timedwait64", LOCK_CONDITION },
	{ "___pthread_rwlock_rdlock", LOCK_RWLOCK },
	{ "pthread_rwlock_wrlock", LOCK_RWLOCK },
	{ "__new_sem_wait_slow64", LOCK_SEMAPHORE },
	{ "__new_sem_wait", LOCK_SEMAPHORE },
	{ "sem_clockwait", LOCK_SEMAPHORE },
	{ "__pthread_barrier_wait", LOCK_BARRIER },
	{ "__pthread_clockjoin_ex", LOCK_JOIN },
	/* No waits, or nobody's of a C library. */
	{ "pthread_mutex_unlock", LOCK_UNKNOWN },
	{ "pthread_mutex_trylock", LOCK_UNKNOWN },
	{ "pthread_mutex_lock_and_log", LOCK_UNKNOWN },
	{ "sem_wait_for_all", LOCK_UNKNOWN },
	{ "my_pthread_mutex_lock", LOCK_UNKNOWN },
	{ "__lll_lock_wait", LOCK_UNKNOWN },
	{ "____", LOCK_UNKNOWN },
	{ "", LOCK_UNKNOWN },
};

static void test_row(void **state)
{
	const struct row *row = *state;

	assert_int_equal(lock_kind_of_function(row->name), row->kind);
}

static void test_frames(void **state)
{
	(void)state;
	assert_string_equal(lock_kind_frame(LOCK_CONDITION), "[condition variable]");
	assert_null(lock_kind_frame(LOCK_UNKNOWN));
	assert_null(lock_kind_frame(LOCK_KIND_MAX));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_frames),
};

TEST_MAIN(tests)
