/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The programs once more, over the memory of another task (bpf/another_task.bpf.h): of these the one that looks at open waits is used. */
#define WALKS_ANOTHER_TASK
#include "bpf/sample.bpf.c"
