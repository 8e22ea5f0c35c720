/* SPDX-License-Identifier: Apache-2.0 */
/* One record of the perf side-band as bytes. Pure. */
#ifndef XAGENT_AGENT_PROCESS_SIDEBAND_DECODE_H
#define XAGENT_AGENT_PROCESS_SIDEBAND_DECODE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/event.h"
#include "agent/process/kernel_text.h"

/* What every event of the side-band asks for; the decoder relies on it. It makes the trailer of
 * each record {pid, tid, time}. */
#define SIDEBAND_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

/* perf_event_header.size is 16 bits. */
#define SIDEBAND_RECORD_MAX 65536

enum sideband_outcome {
	SIDEBAND_EVENT,	       /* *ret_event is set, of a process */
	SIDEBAND_THREAD_START, /* ret_event->pid has one thread more */
	SIDEBAND_THREAD_EXIT,  /* ret_event is an EXIT of thread *ret_tid, perhaps the last one */
	SIDEBAND_KERNEL_TEXT,  /* code has come or gone in the kernel: sideband_decode_kernel_text() */
	SIDEBAND_SKIPPED,      /* of no interest: renames, tasks of other pid namespaces … */
	SIDEBAND_MALFORMED,
};

/* `bytes` is one whole record, header included. ret_event->path points into it. */
enum sideband_outcome sideband_decode(const void *bytes, size_t n, struct process_event *ret_event,
				      uint32_t *ret_tid);

/* What such a record tells, but for the place of the name. False: malformed. *ret_name points into it. */
bool sideband_decode_kernel_text(const void *bytes, size_t n, struct kernel_text_change *ret_change,
				 const char **ret_name);

#endif
