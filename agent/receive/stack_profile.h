/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of names, and a value each, become a pprof. What is read is foreign: bounded in samples, bytes, and in the work that it takes. */
#ifndef XAGENT_AGENT_RECEIVE_STACK_PROFILE_H
#define XAGENT_AGENT_RECEIVE_STACK_PROFILE_H

#include "agent/receive/profile_type.h"
#include "agent/store/ingest/read_budget.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"
#include "pprof/pprof.h"

struct stack_profile;

struct stack_profile_options {
	struct profile_type type;
	uint64_t sample_rate; /* 0: values are what they are */
	uint64_t time_ns, duration_ns;
	struct read_budget *budget; /* borrowed; it has begun */
};

/* 0 or -errno. */
int stack_profile_new(const struct stack_profile_options *options, struct stack_profile **ret);
void stack_profile_free(struct stack_profile *p); /* NULL-safe */
static inline void stack_profile_freep(struct stack_profile **p)
{
	stack_profile_free(*p);
}

/*
 * Names from the root on, `n` of them; empty ones are left out, and beyond the depth that servers keep those at the leaf. A value of 0 is none.
 * 0; -EOVERFLOW: the value, or their sum; -ENOBUFS: more samples or names than a server takes; -ECANCELED: the budget; -ENOMEM.
 */
int stack_profile_add(struct stack_profile *p, const struct str *names, size_t n, uint64_t value);
/* The same, of "root;…;leaf". */
int stack_profile_add_text(struct stack_profile *p, struct str stack, uint64_t value);

size_t stack_profile_n(const struct stack_profile *p);
/* Compressed. 0 or -ENOMEM. */
int stack_profile_encode(const struct stack_profile *p, struct pprof_bytes *ret_bytes);

#endif
