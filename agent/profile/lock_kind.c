/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of locks by functions that wait for them. */
#include "agent/profile/lock_kind.h"

#include <stdbool.h>
#include <string.h>

#include "agent/util/macro.h"

/* Of the names without the underscores before them. The library's own ones are longer: pthread_cond_wait_common, new_sem_wait_slow64. */
static const struct {
	const char *begin;
	enum lock_kind kind;
} functions[] = {
	{ "pthread_mutex_lock", LOCK_MUTEX },
	{ "pthread_mutex_timedlock", LOCK_MUTEX },
	{ "pthread_mutex_clocklock", LOCK_MUTEX },
	{ "pthread_mutex_cond_lock", LOCK_MUTEX },
	{ "pthread_cond_wait", LOCK_CONDITION },
	{ "pthread_cond_timedwait", LOCK_CONDITION },
	{ "pthread_cond_clockwait", LOCK_CONDITION },
	{ "pthread_rwlock_rdlock", LOCK_RWLOCK },
	{ "pthread_rwlock_wrlock", LOCK_RWLOCK },
	{ "pthread_rwlock_timedrdlock", LOCK_RWLOCK },
	{ "pthread_rwlock_timedwrlock", LOCK_RWLOCK },
	{ "pthread_rwlock_clockrdlock", LOCK_RWLOCK },
	{ "pthread_rwlock_clockwrlock", LOCK_RWLOCK },
	{ "sem_wait", LOCK_SEMAPHORE },
	{ "sem_timedwait", LOCK_SEMAPHORE },
	{ "sem_clockwait", LOCK_SEMAPHORE },
	{ "new_sem_wait", LOCK_SEMAPHORE },
	{ "pthread_barrier_wait", LOCK_BARRIER },
	{ "pthread_join", LOCK_JOIN },
	{ "pthread_timedjoin_np", LOCK_JOIN },
	{ "pthread_clockjoin", LOCK_JOIN },
};

/* What glibc puts behind a name: a function's part, or the width of its times. */
static bool is_ending(const char *rest)
{
	static const char *const endings[] = { "",	  "64",	   "_slow",
					       "_slow64", "_full", "_common",
					       "_np",	  "_ex",   "_common.constprop.0",
					       "_full64" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (strcmp(rest, endings[i]) == 0)
			return true;
	return false;
}

enum lock_kind lock_kind_of_function(const char *function)
{
	function += strspn(function, "_");
	if (strncmp(function, "GI_", 3) == 0)
		function += 3;
	function += strspn(function, "_");
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		size_t n = strlen(functions[i].begin);

		if (strncmp(function, functions[i].begin, n) == 0 && is_ending(function + n))
			return functions[i].kind;
	}
	return LOCK_UNKNOWN;
}

const char *lock_kind_frame(unsigned long kind)
{
	static const char *const frames[LOCK_KIND_MAX] = {
#define LOCK_KIND_FRAME(NAME, text) [LOCK_##NAME] = text,
		LOCK_KINDS(LOCK_KIND_FRAME)
#undef LOCK_KIND_FRAME
	};

	return kind < LOCK_KIND_MAX ? frames[kind] : NULL;
}
