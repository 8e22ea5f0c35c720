/* SPDX-License-Identifier: Apache-2.0 */
/* Names lie side by side in the JVM's file: they are read by the page, and few of them are looked at. */
#include "agent/runtimes/hotspot/vm_members.h"

#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* The names of JDK 8 to 27 lie in 60 to 110 pages. */
#define PAGES 128
/* A table of any other process's is given up after so many. */
#define MAX_PAGES_READ 1024
#define ENTRIES_AT_ONCE 64

struct page {
	uint64_t at; /* 0: nothing is held */
	char bytes[WIRE_PAGE_BYTES];
};

struct names {
	const struct runtime_memory *memory;
	unsigned int n_read;
	struct page pages[PAGES];
};

static const struct page *page_at(struct names *n, uint64_t at)
{
	struct page *p = &n->pages[at / WIRE_PAGE_BYTES % PAGES];

	if (p->at == at)
		return p;
	p->at = 0;
	if (!at || n->n_read++ >= MAX_PAGES_READ ||
	    n->memory->read(n->memory->data, at, p->bytes, sizeof(p->bytes)) < 0)
		return NULL;
	p->at = at;
	return p;
}

/* "" when it cannot be read; a longer one is cut. */
static void read_name(struct names *n, uint64_t at, char to[VM_NAME_BYTES])
{
	memset(to, 0, VM_NAME_BYTES);
	for (size_t i = 0; i < VM_NAME_BYTES - 1 && at; i++, at++) {
		uint64_t off = at % WIRE_PAGE_BYTES;
		const struct page *p = page_at(n, at - off);

		if (p)
			to[i] = p->bytes[off];
		if (!to[i])
			return;
	}
}

static bool is_wanted_type(const char *type, const struct vm_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(type, members[i].type) == 0)
			return true;
	return false;
}

static void take(struct names *names, struct vm_member *m, const struct hotspot_entry *e)
{
	m->is_there = true;
	m->is_static = e->is_static;
	m->at = e->is_static ? e->address : e->offset;
	read_name(names, e->field_type, m->of_type);
}

/* Entries of one type follow each other. */
struct last_type {
	uint64_t at;
	bool is_wanted;
	char name[VM_NAME_BYTES];
};

static void look_at(struct names *names, struct last_type *last, const struct hotspot_entry *e,
		    struct vm_member *members, size_t n)
{
	char field[VM_NAME_BYTES];

	if (e->type_name != last->at) {
		last->at = e->type_name;
		read_name(names, e->type_name, last->name);
		last->is_wanted = is_wanted_type(last->name, members, n);
	}
	if (!last->is_wanted)
		return;
	read_name(names, e->field_name, field);
	for (size_t i = 0; i < n; i++)
		if (strcmp(last->name, members[i].type) == 0 &&
		    strcmp(field, members[i].field) == 0)
			take(names, &members[i], e);
}

bool vm_members_find(const struct runtime_memory *memory, uint64_t table_at,
		     struct vm_member *members, size_t n)
{
	struct hotspot_entry some[ENTRIES_AT_ONCE];
	struct last_type last = { 0 };
	_cleanup_free_ struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return false;
	names->memory = memory;
	for (size_t i = 0; i < HOTSPOT_MAX_ENTRIES; i++) {
		if (i % ENTRIES_AT_ONCE == 0 &&
		    memory->read(memory->data, table_at + i * sizeof(*some), some, sizeof(some)) <
			    0)
			return false;
		if (!some[i % ENTRIES_AT_ONCE].type_name)
			return true;
		look_at(names, &last, &some[i % ENTRIES_AT_ONCE], members, n);
	}
	return false;
}
