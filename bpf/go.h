/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What Go's runtime knows of its stacks. Each thread (m) has a stack of its own (that of g0), where the runtime and C run; goroutines have
 * others, which grow by being moved.
 *
 * The places are the same from Go 1.5 to 1.26 (src/runtime/runtime2.go): types g, gobuf and m.
 */
#ifndef XAGENT_BPF_GO_H
#define XAGENT_BPF_GO_H

#include <linux/types.h>

/* The beginning of a g. */
struct go_g {
	__u64 begin, end; /* of its stack */
	__u64 guards[2];
	__u64 panics[2];
	__u64 m;
	__u64 sp; /* where it was left */
};

#define GO_G_END 8
#define GO_G_M 48
#define GO_G_SP 56

_Static_assert(__builtin_offsetof(struct go_g, end) == GO_G_END &&
		       __builtin_offsetof(struct go_g, m) == GO_G_M &&
		       __builtin_offsetof(struct go_g, sp) == GO_G_SP,
	       "as the runtime has them");

/* AArch64: the present g, in Go code (src/cmd/internal/obj/arm64/a.out.go). */
#define GO_ARM64_G 28

#endif
