/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: text of /proc/kallsyms in two pieces, and look-ups in what it gives. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbol/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(kallsyms_parser_freep) struct kallsyms_parser *parser = NULL;
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct kallsyms_symbol symbol;
	size_t first = size ? data[0] % size : 0;

	if (kallsyms_parser_new(data && size ? (size_t)data[0] * 64 : 4096, &parser) < 0)
		return 0;
	if (kallsyms_parser_feed(parser, (const char *)data, first) < 0 ||
	    kallsyms_parser_feed(parser, (const char *)data + first, size - first) < 0)
		return 0;
	if (kallsyms_parser_finish_take(TAKE_PTR(parser), &k) < 0)
		return 0;
	for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
		uint64_t pc;

		memcpy(&pc, data + i, sizeof(pc));
		if (kallsyms_find(k, pc, &symbol) &&
		    (pc < symbol.begin || pc >= symbol.end || !symbol.name[0]))
			abort();
	}
	for (uint64_t pc = 0xffffffff81000000; pc < 0xffffffff81001000; pc += 64)
		if (kallsyms_find(k, pc, &symbol) &&
		    strlen(symbol.name) + strlen(symbol.module) > size)
			abort();
	return 0;
}
