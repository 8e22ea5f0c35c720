/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of which kind a lock of user code is. The kernel sees a futex and no more; which function of the C library waits for it tells, and that is the innermost one
 * that has a name of POSIX threads. Pure.
 */
#ifndef XAGENT_AGENT_PROFILE_LOCK_KIND_H
#define XAGENT_AGENT_PROFILE_LOCK_KIND_H

/* X(NAME, text of the frame). */
#define LOCK_KINDS(X)                        \
	X(MUTEX, "[mutex]")                  \
	X(CONDITION, "[condition variable]") \
	X(RWLOCK, "[rwlock]")                \
	X(SEMAPHORE, "[semaphore]")          \
	X(BARRIER, "[barrier]")              \
	X(JOIN, "[end of a thread]")

enum lock_kind {
	LOCK_UNKNOWN,
#define LOCK_KIND_ENUM(NAME, text) LOCK_##NAME,
	LOCK_KINDS(LOCK_KIND_ENUM)
#undef LOCK_KIND_ENUM
		LOCK_KIND_MAX
};

/* What the function waits for, as glibc and musl call them; LOCK_UNKNOWN: it is none of these. */
enum lock_kind lock_kind_of_function(const char *function);
/* "[mutex]"; NULL of LOCK_UNKNOWN and what is none. */
const char *lock_kind_frame(unsigned long kind);

#endif
