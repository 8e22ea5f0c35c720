/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running kernel's types, for relocating one BPF object: written to memory that libbpf reads like a file.
 *
 * Left to itself libbpf holds the kernel's 5 MB of BTF twice while it parses them, and compares each name in it with each structure of the
 * object: half the time and most of the memory that a start takes.
 */
#ifndef XAGENT_AGENT_SAMPLE_KERNEL_TYPES_H
#define XAGENT_AGENT_SAMPLE_KERNEL_TYPES_H

#include "agent/util/str.h"

#define KERNEL_TYPES_PATH_BYTES 32

/* An empty file in memory, and where to open it. A descriptor or -errno. */
int kernel_types_new(char path[static KERNEL_TYPES_PATH_BYTES]);
/* Fills it with what `object`, raw BTF, may ask for. 0, or -errno when that cannot be told here: the whole BTF is then to be used. */
int kernel_types_fill(int fd, struct str object);

#endif
