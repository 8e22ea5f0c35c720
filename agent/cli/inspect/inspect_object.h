/* SPDX-License-Identifier: Apache-2.0 */
/* A file to look at: its headers, and its separate debug file. */
#ifndef XAGENT_AGENT_CLI_INSPECT_INSPECT_OBJECT_H
#define XAGENT_AGENT_CLI_INSPECT_INSPECT_OBJECT_H

#include "agent/object/elf.h"
#include "agent/util/buf.h"

struct inspect_object {
	int fd;
	int debug_fd;
	struct elf *elf;
	struct elf *debug; /* NULL: none found */
};

#define INSPECT_OBJECT_INIT ((struct inspect_object){ .fd = -1, .debug_fd = -1 })

/* 0, or -errno with one line in `why` that names the file; what is open by then stays so until fini. */
int inspect_object_open(struct inspect_object *o, const char *path, struct buf *why);
void inspect_object_fini(struct inspect_object *o);

#endif
