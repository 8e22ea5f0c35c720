/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long V8's bytecodes are (Bytecodes::kBytecodeSizes): three rows, of so many bytes as there are bytecodes; each has an opcode with its operands,
 * which are of one byte, two, or four. In a file without the symbol the table is known by how it begins: prefixes and breakpoints, which are
 * the first bytecodes of V8 9.4 to 14.6. Pure, but for reading the file.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_BYTECODE_SIZES_H
#define XAGENT_AGENT_RUNTIMES_V8_BYTECODE_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/object/v8/pieces.h"

/* An opcode is a byte. The longest one known has 16 with its operands. */
#define V8_MAX_BYTECODES 256
#define V8_MAX_BYTECODE_BYTES 64

/* Whether they may be three rows of n sizes. */
bool v8_are_bytecode_sizes(const uint8_t *sizes, size_t n);
/* Where such a table begins among the bytes of a piece; not one that all lies in what was seen. */
bool v8_bytecode_sizes_in_piece(const struct v8_piece *piece, size_t *ret_at, uint32_t *ret_n);
/* Where it is linked to be, and the number of bytecodes. False: not found. */
bool v8_bytecode_sizes_find(const struct elf *elf, uint64_t *ret_at, uint32_t *ret_n);

#endif
