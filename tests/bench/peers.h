/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the maps of peers.bpf.c with the tables of a context. */
#ifndef XAGENT_TESTS_BENCH_PEERS_H
#define XAGENT_TESTS_BENCH_PEERS_H

#include <bpf/libbpf.h>

#include "tests/bench/context.h"

/* 0 or -errno. */
int peers_fill(const struct bpf_object *object, struct context *w);

#endif
