/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions from the ring buffer: whatever is accepted lies within the bytes, and is shown as clean text. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/code_names.h"
#include "agent/runtimes/name_texts.h"
#include "agent/sample/name_record.h"
#include "agent/util/cleanup.h"
#include "agent/util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	assert(str_is_utf8(str_from(text)));
	for (const char *c = text; *c; c++)
		assert((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_name(const struct wire_name *record)
{
	const struct code_key key = { record->pid, record->exec_id, record->function,
				      record->print };
	_cleanup_(code_names_freep) struct code_names *names = NULL;
	struct name_texts texts;
	struct code_text text;

	name_texts_of(record, &texts, &text);
	if (code_names_new(1 << 20, NULL, &names) < 0 || code_names_put(names, &key, &text) < 0)
		return;
	const struct code_name *name = code_names_find(names, &key);
	assert(name && *name->function && name->line == record->line &&
	       name->n_lines == record->n_lines);
	check_text(name->function);
	check_text(name->file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned as the ring aligns, and of exactly this size. */
	_cleanup_free_ uint8_t *bytes = malloc(size ? size : 1);
	const struct wire_name *record;

	if (!bytes)
		return 0;
	if (size > 0)
		memcpy(bytes, data, size);
	if (name_record_parse(bytes, size, &record) < 0)
		return 0;
	assert((const uint8_t *)record == bytes);
	assert((const uint8_t *)record->texts + record->n_scope + record->n_name + record->n_file +
		       record->n_lines <=
	       bytes + size);
	check_name(record);
	return 0;
}
