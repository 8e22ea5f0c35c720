/* SPDX-License-Identifier: Apache-2.0 */
/* From numbers of entries to what the entries say. */
#include "agent/runtimes/hotspot/more.h"

#include <string.h>

#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/macro.h"

/* JavaThread has some 2,000 bytes. */
#define MAX_OFFSET 8192

#define FIRST_OFFSET HOTSPOT_LIST_LENGTH

static const uint8_t of_threads[] = { HOTSPOT_THREAD_SYSTEM, HOTSPOT_SYSTEM_NUMBER,
				      HOTSPOT_THREAD_STACK,  HOTSPOT_THREAD_STACK_BYTES,
				      HOTSPOT_THREAD_ANCHOR, HOTSPOT_ANCHOR_SP,
				      HOTSPOT_ANCHOR_PC,     HOTSPOT_ANCHOR_FP,
				      HOTSPOT_WRAPPER_ANCHOR };

static bool has_all(const struct hotspot_more *m, const uint8_t *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m->at[fields[i]] == HOTSPOT_NONE)
			return false;
	return true;
}

static bool read_entry(const struct hotspot_more *of_file, uint64_t table_at, size_t field,
		       const struct runtime_memory *memory, struct hotspot_entry *ret_entry)
{
	uint64_t at = table_at + of_file->at[field] * sizeof(*ret_entry);

	return of_file->at[field] != HOTSPOT_NONE &&
	       memory->read(memory->data, at, ret_entry, sizeof(*ret_entry)) == 0;
}

/* The address of the first of these static members that there is; 0: there is none. */
static uint64_t address_of(const struct hotspot_more *of_file, uint64_t table_at, size_t first,
			   size_t last, const struct runtime_memory *memory)
{
	struct hotspot_entry e;

	for (size_t i = first; i <= last; i++)
		if (read_entry(of_file, table_at, i, memory, &e))
			return e.is_static ? e.address : 0;
	return 0;
}

static uint16_t offset_of(const struct hotspot_more *of_file, uint64_t table_at, size_t field,
			  const struct runtime_memory *memory)
{
	struct hotspot_entry e;

	if (!read_entry(of_file, table_at, field, memory, &e) || e.is_static ||
	    e.offset > MAX_OFFSET)
		return HOTSPOT_NONE;
	return (uint16_t)e.offset;
}

/* The one that there is takes the place of both. */
static void join(struct hotspot_more *m, size_t one, size_t other)
{
	if (m->at[one] == HOTSPOT_NONE)
		m->at[one] = m->at[other];
}

/* Versions of the JDK have one list of threads or the other. */
static bool has_list(const struct hotspot_more *m)
{
	return m->at[HOTSPOT_THREAD_NEXT] != HOTSPOT_NONE ||
	       (m->at[HOTSPOT_LIST_LENGTH] != HOTSPOT_NONE &&
		m->at[HOTSPOT_LIST_THREADS] != HOTSPOT_NONE);
}

void hotspot_more_read(const struct hotspot_more *of_file, uint64_t table_at,
		       const struct runtime_memory *memory, struct hotspot_more *ret_more)
{
	struct hotspot_more *m = ret_more;

	*m = (struct hotspot_more){ 0 };
	memset(m->at, 0xff, sizeof(m->at));
	for (size_t i = FIRST_OFFSET; i < HOTSPOT_MORE_MAX; i++)
		m->at[i] = offset_of(of_file, table_at, i, memory);
	if (of_file->at[HOTSPOT_THREADS] != HOTSPOT_NONE)
		m->at[HOTSPOT_THREAD_NEXT] = HOTSPOT_NONE;
	join(m, HOTSPOT_THREAD_SYSTEM, HOTSPOT_THREAD_SYSTEM_8);
	join(m, HOTSPOT_DEOPT, HOTSPOT_DEOPT_23);
	join(m, HOTSPOT_DEOPT, HOTSPOT_DEOPT_8);
	join(m, HOTSPOT_DEOPT_HANDLE, HOTSPOT_DEOPT_HANDLE_8);
	if (has_list(m) && has_all(m, of_threads, ARRAY_SIZE(of_threads)))
		m->threads_at =
			address_of(of_file, table_at, HOTSPOT_THREADS, HOTSPOT_THREADS_8, memory);
	m->class_shift_at =
		address_of(of_file, table_at, HOTSPOT_CLASS_SHIFT, HOTSPOT_CLASS_SHIFT_8, memory);
	if (m->class_shift_at && m->at[HOTSPOT_CLASS_POOL] != HOTSPOT_NONE)
		m->class_base_at = address_of(of_file, table_at, HOTSPOT_CLASS_BASE,
					      HOTSPOT_CLASS_BASE_8, memory);
}
