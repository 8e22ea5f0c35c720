/* SPDX-License-Identifier: Apache-2.0 */
/* The vDSO's ELF image: the kernel maps the same one into every process of one ABI, so the agent's
 * own will do. */
#ifndef XAGENT_AGENT_OBJECT_VDSO_H
#define XAGENT_AGENT_OBJECT_VDSO_H

#include "agent/object/bytes.h"

/* Never unmapped. -ENOENT when the kernel gives none. */
int vdso_image(struct bytes *ret_bytes);

#endif
