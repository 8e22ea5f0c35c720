/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are the same for everyone and valid for ever. */
#ifndef XAGENT_AGENT_SYMBOL_CONSTANTS_H
#define XAGENT_AGENT_SYMBOL_CONSTANTS_H

#include "agent/symbol/frame.h"

struct frame symbol_frame_jit(void);	 /* "[jit]": executable memory without a file */
struct frame symbol_frame_unknown(void); /* "[unknown]": in no mapping */
struct frame symbol_frame_kernel(void); /* "[kernel]": names are hidden, or this address has none */

#endif
