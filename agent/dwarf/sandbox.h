/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights that a process gives up before it reads files of others: capabilities, its user, descriptors, memory, and nearly all system calls.
 *
 * Root becomes the user 65534; where the agent itself may not change users (systemd, containers with few capabilities) the process stays
 * what it is, without a capability. A process that could not be confined must not go on.
 */
#ifndef XAGENT_AGENT_DWARF_SANDBOX_H
#define XAGENT_AGENT_DWARF_SANDBOX_H

#include <stdint.h>

/* nobody and nogroup, also where no file says so (the kernel's overflowuid). */
#define SANDBOX_ID 65534

/* For the process that was just executed, with descriptors 0 to `last_fd` only. Says how many bytes of addresses are mapped, for
 * sandbox_enter_reader(). 0 or -errno: it must end. */
int sandbox_enter_server(int last_fd, uint64_t *ret_mapped_bytes);
/* Besides, for a child of it that reads one file. 0 or -errno: it must end. */
int sandbox_enter_reader(uint64_t mapped_bytes);

/* Within sandbox_enter_reader(), only less than before; 0 or -errno. Bytes of addresses of the whole process; bytes of a file that is
 * written to. */
int sandbox_limit_memory(uint64_t n_bytes);
int sandbox_limit_file(uint64_t n_bytes);

#endif
