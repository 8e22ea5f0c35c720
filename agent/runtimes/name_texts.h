/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a name as the kernel half has sent it (struct wire_name), in UTF-8 and with what the function lies in before its name. Pure. */
#ifndef XAGENT_AGENT_RUNTIMES_NAME_TEXTS_H
#define XAGENT_AGENT_RUNTIMES_NAME_TEXTS_H

#include "agent/runtimes/runtime.h"
#include "bpf/wire.h"

/* Types of arguments: one that is one letter in a descriptor has up to seven, and what stands between two. */
#define ARGUMENTS_BYTES (9 * WIRE_SIGNATURE_BYTES)

/* A byte of Latin-1 becomes two; a text that was cut has an ellipsis behind it. */
#define NAME_TEXTS_ELLIPSIS "\u2026"
#define NAME_TEXTS_NAME_BYTES (2 * (WIRE_SCOPE_BYTES + WIRE_NAME_BYTES) + ARGUMENTS_BYTES)
#define NAME_TEXTS_FILE_BYTES (2 * WIRE_FILE_BYTES + 16)

struct name_texts {
	char name[NAME_TEXTS_NAME_BYTES];
	char file[NAME_TEXTS_FILE_BYTES];
};

/* A record that was checked (agent/sample/name_record.h). The text refers to both. */
void name_texts_of(const struct wire_name *name, struct name_texts *ret_texts,
		   struct code_text *ret_text);

/* Appends n bytes of a text in that encoding at to[at …] in UTF-8; characters that are none become U+FFFD. Returns the new end, n_to at most. */
size_t name_texts_utf8(const char *bytes, size_t n, enum wire_encoding encoding, char *to,
		       size_t at, size_t n_to);

#endif
