/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the agent's side share: the server, and the files that its readers read. */
#ifndef XAGENT_AGENT_DWARF_CLIENT_INTERNAL_H
#define XAGENT_AGENT_DWARF_CLIENT_INTERNAL_H

#include <sys/types.h>

#include "agent/dwarf/blame.h"
#include "agent/dwarf/client.h"
#include "agent/dwarf/message.h"

struct dwarf_client {
	struct telemetry *telemetry; /* borrowed; may be NULL */
	pid_t pid;		     /* of the server; 0: none */
	int fd;			     /* owned; −1: none */
	uint64_t generation; /* of the server; a file of an earlier one has no reader any more */
	size_t n_files;
	uint64_t idle_ns; /* since when no file was open; 0: one is, or was never */
	struct dwarf_blame blame;
};

struct dwarf_file {
	struct dwarf_client *client; /* borrowed */
	struct dwarf_owner owner;
	uint64_t generation;
	pid_t pid;    /* of the reader; 0: none any more */
	int fd;	      /* owned; its channel */
	int statm_fd; /* owned; −1: its memory is not known */
	uint64_t first_bytes;
	uint64_t max_bytes; /* beyond these */
	uint64_t now_bytes;
	bool has_unpacked;
	struct scratch *scratch; /* borrowed; may be NULL */
	int scratch_fd;		 /* owned; −1: none */
	uint64_t n_scratch_bytes;
	char message[DWARF_MESSAGE_MAX_BYTES];
};

/* Starts the server where there is none, for a file of this owner. 0, DWARF_NOT_NOW. */
int dwarf_client_start(struct dwarf_client *c, struct dwarf_owner owner, uint64_t now_ns);
/* One order and what the server has to say of it; a server that does not answer is ended. 0, DWARF_NOT_NOW. */
int dwarf_client_order(struct dwarf_client *c, const struct dwarf_order *order, const int *fds,
		       size_t n_fds, struct dwarf_done *ret_done);
/* `owner` is that of the file by which it failed. */
void dwarf_client_failed(struct dwarf_client *c, struct dwarf_owner owner,
			 enum telemetry_counter reason);

#endif
