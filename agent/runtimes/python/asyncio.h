/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What _asyncio, the C half of asyncio, says of its tasks (section .AsyncioDebug, 3.14 and later). It lies in the interpreter's own file, or in a
 * library of its own, which a program loads when it imports asyncio. Pure.
 */
#ifndef XAGENT_AGENT_RUNTIMES_PYTHON_ASYNCIO_H
#define XAGENT_AGENT_RUNTIMES_PYTHON_ASYNCIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "bpf/runtimes/python.h"

#define PYTHON_ASYNCIO_WORDS 13

/* From the words of that section, which may be anything. False: there are fewer, or they cannot be. */
bool python_asyncio_from_words(const uint64_t *words, size_t n, struct python_asyncio *ret_asyncio);
/* Of the section in a file, whose sections are loaded. False: it has none. */
bool python_asyncio_read(const struct elf *elf, struct python_asyncio *ret_asyncio);
/* Tasks are followed with this layout from now on, if it is of the interpreter that `asyncio` was made for, and says of coroutines what is needed. */
void python_asyncio_join(struct python_layout *layout, const struct python_asyncio *asyncio);
/* … by what builds of that size have said. */
void python_asyncio_join_known(struct python_layout *layout);

#endif
