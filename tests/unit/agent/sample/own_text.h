/* SPDX-License-Identifier: Apache-2.0 */
/* This program's own code, published to the kernel half by hand: one mapping, of one object, with one rule for all of it. */
#ifndef XAGENT_TESTS_UNIT_AGENT_SAMPLE_OWN_TEXT_H
#define XAGENT_TESTS_UNIT_AGENT_SAMPLE_OWN_TEXT_H

#include <bpf/bpf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/rule.h"
#include "bpf/wire.h"
#include "tests/support/unit.h"

#define OWN_TEXT_OBJECT 7
/* Places in the arena. */
#define OWN_TEXT_MAPPINGS_AT 1
#define OWN_TEXT_RULES_AT 16
#define OWN_TEXT_PAGES_AT 32
#define OWN_TEXT_MAX_BYTES ((uint64_t)64 << 20)

struct own_text {
	uint64_t begin;
	uint64_t n_bytes;
	uint64_t frame_base;
	uint64_t *segment; /* of the arena */
};

/* Of the first object, the program: its executable segment. */
static inline int own_text_find(struct dl_phdr_info *info, size_t size, void *data)
{
	struct own_text *t = data;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		t->begin = (info->dlpi_addr + p->p_vaddr) & ~(uint64_t)(WIRE_PAGE_BYTES - 1);
		t->n_bytes = p->p_memsz + WIRE_PAGE_BYTES;
	}
	return 1;
}

/* With a segment of the arena, which has no other. */
static inline void own_text_init(struct own_text *t, int segments_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	uint32_t zero = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(uint32_t), WIRE_SEGMENT_BYTES,
				1, &mmapable);

	(void)dl_iterate_phdr(own_text_find, t);
	assert_in_range(t->n_bytes, 1, OWN_TEXT_MAX_BYTES);
	t->frame_base = ((uint64_t)OWN_TEXT_OBJECT << WIRE_FRAME_OFFSET_BITS) + 0x1000;
	assert_true(fd >= 0);
	t->segment = mmap(NULL, WIRE_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(t->segment != MAP_FAILED);
	assert_int_equal(bpf_map_update_elem(segments_fd, &zero, &fd, BPF_ANY), 0);
	assert_int_equal(close(fd), 0);
}

static inline void own_text_fini(struct own_text *t)
{
	if (t->segment)
		(void)munmap(t->segment, WIRE_SEGMENT_BYTES);
	t->segment = NULL;
}

/* `objects`: the map's memory. Code 1 for all of the text. */
static inline void own_text_publish_object(struct own_text *t, struct wire_object *objects,
					   const struct wire_rule *rule)
{
	uint32_t *pages = (uint32_t *)&t->segment[OWN_TEXT_PAGES_AT];

	for (uint64_t page = 0; page <= t->n_bytes >> 16; page++)
		pages[page] = WIRE_PAGE_CONST | 1;
	memcpy(&t->segment[OWN_TEXT_RULES_AT + 1], rule, sizeof(*rule));
	objects[OWN_TEXT_OBJECT] = (struct wire_object){
		.base_vaddr = t->frame_base & WIRE_FRAME_OFFSET_MASK,
		.n_buckets = (uint32_t)(t->n_bytes >> 8) + 1,
		.pages_at = OWN_TEXT_PAGES_AT,
		.rules_at = OWN_TEXT_RULES_AT,
		.serial = 2,
		.n_rule_words = 2,
	};
}

/* `exec_id`: ours, as samples tell it. */
static inline void own_text_publish_process(struct own_text *t, int processes_fd,
					    uint32_t generation, uint32_t exec_id)
{
	const struct wire_mapping mapping = {
		.begin = t->begin,
		.frame_base = t->frame_base,
		.n_pages = (uint32_t)(t->n_bytes / WIRE_PAGE_BYTES),
		.object = OWN_TEXT_OBJECT,
	};
	const struct wire_process process = { .mappings_at = OWN_TEXT_MAPPINGS_AT,
					      .n_mappings = 1,
					      .generation = generation,
					      .exec_id = exec_id };
	uint32_t pid = (uint32_t)getpid();

	memcpy(&t->segment[OWN_TEXT_MAPPINGS_AT], &mapping, sizeof(mapping));
	assert_int_equal(bpf_map_update_elem(processes_fd, &pid, &process, BPF_ANY), 0);
}

#endif
