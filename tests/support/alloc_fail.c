/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one chosen allocation fail. */
#include "tests/support/alloc_fail.h"

#include <errno.h>
#include <stdatomic.h>

/* What the linker's --wrap calls the functions it replaces, and those that replace them. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t item_bytes);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t item_bytes);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t item_bytes);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t item_bytes);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

/* How many allocations until the failing one; 0 = not armed, or past it. */
static atomic_size_t countdown;
static atomic_bool failed;

void alloc_fail_arm(size_t nth)
{
	atomic_store(&failed, false);
	atomic_store(&countdown, nth);
}

bool alloc_fail_disarm(void)
{
	atomic_store(&countdown, 0);
	return atomic_load(&failed);
}

static bool fails_now(void)
{
	size_t left = atomic_load(&countdown);

	while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1))
		;
	if (left != 1)
		return false;
	atomic_store(&failed, true);
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t item_bytes)
{
	return fails_now() ? NULL : __real_calloc(n, item_bytes);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails_now() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t item_bytes)
{
	return fails_now() ? NULL : __real_reallocarray(p, n, item_bytes);
}

char *__wrap_strdup(const char *s)
{
	return fails_now() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails_now() ? NULL : __real_strndup(s, n);
}
