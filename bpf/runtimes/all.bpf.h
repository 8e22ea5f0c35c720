/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The steps of all runtimes of bpf/runtimes.h. */
#ifndef XAGENT_BPF_RUNTIMES_ALL_BPF_H
#define XAGENT_BPF_RUNTIMES_ALL_BPF_H

/* A build for tests brings its own along. */
#ifdef RUNTIMES_INCLUDE
#include RUNTIMES_INCLUDE
#else
#include "bpf/runtimes/hotspot.bpf.h"
#include "bpf/runtimes/python.bpf.h"
#include "bpf/runtimes/v8.bpf.h"
#endif

#endif
