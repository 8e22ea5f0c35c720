/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinds and what names the code of one mapping. */
#include "agent/cli/inspect/mapping_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/object/names/function_info.h"
#include "agent/runtimes/runtime.h"
#include "agent/unwind/debug_elf.h"
#include "agent/unwind/object_rules.h"
#include "agent/unwind/row_table.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"

/* The largest known table has 3 MB, the largest packed symbols 100; these are only counted. */
#define TABLE_MAX_BYTES ((size_t)1 << 30)

static const char by_frame_pointer[] = "frame pointers: ";

static void put(char text[static MAPPING_FACTS_TEXT_BYTES], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void put(char text[static MAPPING_FACTS_TEXT_BYTES], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, MAPPING_FACTS_TEXT_BYTES, fmt, ap);
	va_end(ap);
}

/* As people know them; a source that is new here keeps its own name. */
static const char *source_title(const char *name)
{
	static const char *const titles[][2] = {
		{ "context", "coroutine ends" },   { "eh_frame", ".eh_frame" },
		{ "debug_frame", ".debug_frame" }, { "gopclntab", "Go tables" },
		{ "stubs", "code read" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (strcmp(titles[i][0], name) == 0)
			return titles[i][1];
	return name;
}

void mapping_facts_put_sources(const char *const *names, size_t n, uint64_t n_rows,
			       struct mapping_facts *facts)
{
	_cleanup_buf_ struct buf b = BUF_INIT(MAPPING_FACTS_TEXT_BYTES - 1);

	for (size_t i = 0; i < n; i++)
		(void)buf_printf(&b, "%s%s", i ? " + " : "", source_title(names[i]));
	if (n_rows)
		(void)buf_printf(&b, " %" PRIu64 " rows", n_rows);
	put(facts->unwound, "%s", buf_str(&b));
}

static void put_info(struct unwind_info *info, struct elf *elf, struct mapping_facts *facts)
{
	_cleanup_(row_table_freep) struct row_table *table = NULL;
	const char *names[UNWIND_INFO_MAX_SOURCES];
	size_t n = MIN_OF(unwind_info_n_sources(info), ARRAY_SIZE(names));
	int r = n ? row_table_build(info, elf, TABLE_MAX_BYTES, &table) : ROW_TABLE_NONE;

	for (size_t i = 0; i < n; i++)
		names[i] = unwind_info_source(info, i)->name;
	if (!unwind_info_abi(info))
		put(facts->unwound, "%s",
		    elf_is_64(elf) ? "of another machine: not unwound" : "32-bit: not unwound");
	else if (r == ROW_TABLE_NONE)
		put(facts->unwound, "%sno unwind information", by_frame_pointer);
	else
		mapping_facts_put_sources(names, n, table ? row_table_stats(table)->n_rows : 0,
					  facts);
}

static void find_unwound(struct elf *elf, struct elf *debug, struct mapping_facts *facts)
{
	_cleanup_(unwind_info_freep) struct unwind_info *info = NULL;
	int r = unwind_info_new(elf, debug, &info);

	if (r < 0)
		put(facts->unwound, "%s%s", by_frame_pointer, strerror(-r));
	else
		put_info(info, elf, facts);
}

static int count(uint64_t vaddr, void *data)
{
	size_t *n = data;

	(void)vaddr;
	++*n;
	return 0;
}

/* In the order in which they are asked. */
static int put_names_of(struct function_info *info, const struct function_files *files,
			enum function_kind kind, struct buf *b)
{
	struct function_source *source = NULL;
	size_t n = 0;
	int r = function_info_source(info, files, kind, &source);

	if (r == 0 && source)
		r = source->begins(source, count, &n);
	if (n > 0)
		(void)buf_printf(b, "%s%s %zu functions", b->len ? " + " : "",
				 function_kind_title(kind), n);
	return r < 0 ? r : 0;
}

static void find_named(struct elf *elf, struct elf *debug, struct mapping_facts *facts)
{
	const struct function_files files = { .elf = elf,
					      .debug = debug,
					      .max_bytes = TABLE_MAX_BYTES };
	_cleanup_(function_info_freep) struct function_info *info = NULL;
	_cleanup_buf_ struct buf b = BUF_INIT(MAPPING_FACTS_TEXT_BYTES - 1);
	int r = function_info_new(&info);

	for (int kind = 0; r == 0 && kind < FUNCTION_KIND_MAX; kind++)
		r = put_names_of(info, &files, (enum function_kind)kind, &b);
	put(facts->named, "%s", b.len ? buf_str(&b) : r < 0 ? strerror(-r) : "none");
}

/* By what the agent unwinds and names: with the separate debug file that was opened with the file itself, if there is one. */
static void find_in_files(struct elf *elf, const struct mapped_file *f, struct mapping_facts *facts)
{
	_cleanup_(elf_freep) struct elf *debug = NULL;
	int debug_fd = mapped_file_debug_fd(f);

	if (debug_fd >= 0)
		(void)debug_elf_new(debug_fd, &debug);
	find_unwound(elf, debug, facts);
	find_named(elf, debug, facts);
}

static void find_runtime(struct elf *elf, struct mapping_facts *facts)
{
	struct runtime_file found;

	if (elf_load_sections(elf) < 0 || !runtime_detect(elf, &found))
		return;
	const struct runtime *runtime = runtime_of(found.wire.kind);
	if (runtime->describe)
		runtime->describe(&found.wire, facts->runtime, sizeof(facts->runtime));
	else
		put(facts->runtime, "%s", runtime->name);
}

static void find_in_elf(struct bytes bytes, const struct mapped_file *f,
			struct mapping_facts *facts)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct build_id id = { 0 };
	int r = elf_new(bytes, &elf);

	if (r != 0) {
		put(facts->unwound, "%s%s", by_frame_pointer,
		    r < 0	       ? strerror(-r)
		    : r == ELF_NOT_ELF ? "not an ELF file"
		    : r == ELF_FOREIGN ? "of another byte order"
				       : "damaged ELF headers");
		return;
	}
	if (build_id_read(elf, &id) == 0)
		memcpy(facts->build_id, build_id_text(&id), strlen(build_id_text(&id)) + 1);
	find_in_files(elf, f, facts);
	find_runtime(elf, facts);
}

void mapping_facts_find(const struct mapping *m, struct mapping_facts *ret_facts)
{
	struct mapping_facts facts = { .named = "none" };
	struct bytes bytes;
	int r;

	if (!m->file) {
		put(facts.unwound, "JIT: frame pointers");
	} else if (!m->file->vdso && m->file->fd < 0) {
		/* None where only this process could not be asked (process_open_file). */
		r = m->file->open_error ? m->file->open_error : -EHOSTDOWN;
		put(facts.unwound, "cannot be opened: %s",
		    r == -ESTALE ? "another file by now" : strerror(-r));
	} else {
		r = object_bytes_open(m->file, &bytes);
		if (r < 0)
			put(facts.unwound, "cannot be read: %s", strerror(-r));
		else
			find_in_elf(bytes, m->file, &facts);
	}
	*ret_facts = facts;
}
