/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership by scope: an owning local releases what it holds when it leaves. */
#ifndef XAGENT_AGENT_UTIL_CLEANUP_H
#define XAGENT_AGENT_UTIL_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Moves a pointer or descriptor out of an owning local, which is left empty. */
#define TAKE_PTR(p)                                 \
	({                                          \
		__typeof__(p) *take_from_ = &(p);   \
		__typeof__(p) taken_ = *take_from_; \
		*take_from_ = NULL;                 \
		taken_;                             \
	})
#define TAKE_FD(fd)                       \
	({                                \
		int *take_from_ = &(fd);  \
		int taken_ = *take_from_; \
		*take_from_ = -1;         \
		taken_;                   \
	})

/* DEFINE_CLEANUP(struct foo *, foo_free) makes foo_freep for _cleanup_(foo_freep). */
#define DEFINE_CLEANUP(type, func)          \
	static inline void func##p(type *p) \
	{                                   \
		if (*p)                     \
			func(*p);           \
	}                                   \
	struct xagent_cleanup_semicolon_

static inline void cleanup_free_p(void *p)
{
	free(*(void **)p);
}

/* Closes and keeps errno; NULL-like for negative descriptors. */
static inline void cleanup_close_p(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

static inline void cleanup_fclose_p(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

#define _cleanup_free_ _cleanup_(cleanup_free_p)
#define _cleanup_close_ _cleanup_(cleanup_close_p)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose_p)

#endif
