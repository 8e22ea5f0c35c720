/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer record that tells what a runtime calls a function, checked. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_NAME_RECORD_H
#define XAGENT_AGENT_SAMPLE_NAME_RECORD_H

#include <stddef.h>

#include "bpf/wire.h"

/* The record's own bytes, as long as they lie in it: 0 and the record, borrowed; or -EBADMSG when they do not follow bpf/wire.h. `bytes` is aligned
 * to 8. */
int name_record_parse(const void *bytes, size_t n, const struct wire_name **ret_name);

#endif
