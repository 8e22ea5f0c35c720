/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer record that tells how long something took whose sample came before, checked. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_END_RECORD_H
#define XAGENT_AGENT_SAMPLE_END_RECORD_H

#include <stddef.h>

#include "bpf/wire.h"

/* 0 and the record, borrowed; or -EBADMSG when it does not follow bpf/wire.h. `bytes` is aligned to 8. */
int end_record_parse(const void *bytes, size_t n, const struct wire_end **ret_end);

#endif
