/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runtimes whose functions have no frame of their own on the C stack: interpreters. Compiled by both sides.
 *
 * X(what, NAME, name), where `what` is the list's user's: the step over its frames is in bpf/runtimes/NAME.bpf.h, what recognises it in a file is in agent/runtimes/NAME/. The numbers are on the
 * wire and not kept: both sides are of one build.
 */
#ifndef XAGENT_BPF_RUNTIMES_H
#define XAGENT_BPF_RUNTIMES_H

/* A build for tests has a runtime of its own, and says so before this is included. */
#ifndef RUNTIMES
#define RUNTIMES(X, what) X(what, PYTHON, python) X(what, V8, v8) X(what, HOTSPOT, hotspot)
#endif

enum runtime_kind {
	RUNTIME_NONE,
#define RUNTIME_ENUM(what, NAME, name) RUNTIME_##NAME,
	RUNTIMES(RUNTIME_ENUM, )
#undef RUNTIME_ENUM
		RUNTIME_MAX
};

/* What is counted by runtime has room for so many: it is laid out alike whatever list a part was compiled with. */
#define RUNTIME_KINDS 8

_Static_assert(RUNTIME_MAX <= RUNTIME_KINDS, "there is room");

#endif
