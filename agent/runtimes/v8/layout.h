/* SPDX-License-Identifier: Apache-2.0 */
/* Where V8's objects have what is read of them (bpf/runtimes/v8.h), by what it says of itself. Pure. */
#ifndef XAGENT_AGENT_RUNTIMES_V8_LAYOUT_H
#define XAGENT_AGENT_RUNTIMES_V8_LAYOUT_H

#include "agent/runtimes/v8/constants.h"
#include "bpf/runtimes/v8.h"

/* Of V8: those of Node.js 16 to 26. */
#define V8_FIRST_MAJOR 9
#define V8_LAST_MAJOR 14

/* is_supported 0: a version or a build that is not known. */
void v8_layout_from_constants(const struct v8_constants *constants, struct v8_layout *ret_layout);

#endif
