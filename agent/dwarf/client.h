/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's side: files, lines and inlined functions out of DWARF, read by processes that have no other rights.
 *
 *	agent ── dwarf_client ──► server          no capabilities, no files, the user nobody
 *	agent ── dwarf_file ────► reader (a file) … and it may not even start a process
 *
 * The server is started with the first file, and ends when none was open for a while. Each wait has an end: a reader that does not answer, that
 * takes too much memory, that dies or says what nobody may say is ended and counted by reason, and its file is not asked again. Used by one
 * thread at a time; the server ends with the thread that started it. Never logs.
 */
#ifndef XAGENT_AGENT_DWARF_CLIENT_H
#define XAGENT_AGENT_DWARF_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/lines/scratch.h"
#include "agent/object/lines/source_frames.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/arena.h"
#include "agent/util/cleanup.h"

struct dwarf_client;
struct dwarf_file;

enum dwarf_outcome {
	DWARF_NONE =
		1, /* open: no DWARF that can be used, or not within max_bytes; frames: nothing known there */
	DWARF_FAILED,  /* its reader had to be ended, or ended: the file is better left alone */
	DWARF_NOT_NOW, /* there is no server, or the file's owner is held back (blame.h) */
	DWARF_OUTCOME_MAX
};

/* Waits end after: unpacking of 512 MiB takes some 2 s, heads of all units of the largest files less; an answer 10 µs to some 100 ms for the
 * first of a unit. */
#define DWARF_OPEN_NS (8 * NS_PER_S)
#define DWARF_FRAMES_NS (2 * NS_PER_S)
/* No file was open for so long: the server ends. */
#define DWARF_IDLE_NS (60 * NS_PER_S)

/* Nothing is started yet. `telemetry` is borrowed, NULL: nothing is counted. 0 or -ENOMEM. */
int dwarf_client_new(struct telemetry *telemetry, struct dwarf_client **ret_client);
/* All files are closed. Ends the server. NULL-safe. */
void dwarf_client_free(struct dwarf_client *client);
DEFINE_CLEANUP(struct dwarf_client *, dwarf_client_free);
/* From time to time: the server ends when it was not needed for long. */
void dwarf_client_rest(struct dwarf_client *client, uint64_t now_ns);

/* `fd` is that of a regular file, open for reading; nothing is kept of it. `scratch` is borrowed until close; NULL: nothing is unpacked to
 * disk. 0, any dwarf_outcome, -errno. */
int dwarf_file_open(struct dwarf_client *client, int fd, size_t max_bytes, struct scratch *scratch,
		    struct dwarf_file **ret_file);
void dwarf_file_close(struct dwarf_file *file); /* NULL-safe */
DEFINE_CLEANUP(struct dwarf_file *, dwarf_file_close);
/* Whether opening it again would take seconds. */
bool dwarf_file_has_scratch(const struct dwarf_file *file);
/* Memory of its reader, as the kernel counts it. */
size_t dwarf_file_bytes(const struct dwarf_file *file);
/* Addresses as linked, of the instruction itself. Strings are put into `strings`. 0 (at least one frame), any dwarf_outcome, -errno. After
 * DWARF_FAILED and DWARF_NOT_NOW the file can only be closed. */
int dwarf_file_frames(struct dwarf_file *file, uint64_t vaddr, struct arena *strings,
		      struct source_frames *ret_frames);

#endif
