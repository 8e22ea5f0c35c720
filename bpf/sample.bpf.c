/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The programs of the kernel half, one file an event. They share maps, knobs and the walk. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* Before all that reads memory. */
#include "bpf/another_task.bpf.h"

#include "bpf/events/block_io.bpf.h"
#include "bpf/events/cpu.bpf.h"
#include "bpf/events/faults.bpf.h"
#include "bpf/events/locks.bpf.h"
#include "bpf/events/off_cpu.bpf.h"
#include "bpf/events/off_cpu_look.bpf.h"
#include "bpf/events/off_cpu_open.bpf.h"
#include "bpf/events/off_cpu_predicted.bpf.h"
#include "bpf/events/off_cpu_waker.bpf.h"
#include "bpf/events/rss.bpf.h"
#include "bpf/events/run_queue.bpf.h"
#include "bpf/events/run_queue_predicted.bpf.h"
#include "bpf/events/syscalls.bpf.h"
#include "bpf/events/tcp.bpf.h"
/* A build for tests brings its own along. */
#ifdef TRACEPOINT_INCLUDE
#include TRACEPOINT_INCLUDE
#else
#include "bpf/events/tracepoint.bpf.h"
#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";
