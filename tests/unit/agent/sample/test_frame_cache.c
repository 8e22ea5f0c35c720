/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames that the kernel half remembers: used while they hold, and not a walk longer.
 *
 * Our own text is published as an object whose every address is the outermost frame; then its table, or the process's mappings, change
 * under the cache.
 */
#include <bpf/bpf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/sample/sampler.h"
#include "agent/util/log.h"
#include "bpf/rule.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/spin.h"
#include "tests/unit/agent/sample/refused.h"

#define OBJECT 7
/* Places in the arena. */
#define MAPPINGS_AT 1
#define RULES_AT 16
#define PAGES_AT 32
#define MAX_TEXT_BYTES ((uint64_t)64 << 20)

struct text {
	uint64_t begin;
	uint64_t n_bytes;
};

struct fixture {
	struct telemetry *telemetry;
	struct sampler *sampler;
	struct sampler_tables maps;
	struct wire_object *objects; /* the map's memory */
	uint64_t *segment;
	struct text text;
	uint64_t frame_base;
	uint32_t exec_id; /* ours, as samples tell it */
	/* Of our samples with the leaf in our text: */
	uint64_t n_root;     /* that end there */
	uint64_t n_other;    /* that go on */
	uint64_t n_misnamed; /* not by the present frame_base */
};

/* Of the first object, the program: its executable segment. */
static int find_text(struct dl_phdr_info *info, size_t size, void *data)
{
	struct text *t = data;

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

static void publish_process(struct fixture *f, uint32_t generation)
{
	const struct wire_mapping mapping = {
		.begin = f->text.begin,
		.frame_base = f->frame_base,
		.n_pages = (uint32_t)(f->text.n_bytes / WIRE_PAGE_BYTES),
		.object = OBJECT,
	};
	const struct wire_process process = { .mappings_at = MAPPINGS_AT,
					      .n_mappings = 1,
					      .generation = generation,
					      .exec_id = f->exec_id };
	uint32_t pid = (uint32_t)getpid();

	memcpy(&f->segment[MAPPINGS_AT], &mapping, sizeof(mapping));
	assert_int_equal(bpf_map_update_elem(f->maps.processes_fd, &pid, &process, BPF_ANY), 0);
}

/* Code 1 for all of the text. */
static void publish_object(struct fixture *f)
{
	const struct wire_rule root = { .cfa = WIRE_RULE_OF(RULE_CFA_REG, WIRE_ABI_SP),
					.fp_ra = WIRE_RA_UNDEFINED << 4,
					.cfa_off = 8 };
	uint32_t *pages = (uint32_t *)&f->segment[PAGES_AT];

	for (uint64_t page = 0; page <= f->text.n_bytes >> 16; page++)
		pages[page] = WIRE_PAGE_CONST | 1;
	memcpy(&f->segment[RULES_AT + 1], &root, sizeof(root));
	f->objects[OBJECT] = (struct wire_object){
		.base_vaddr = f->frame_base & WIRE_FRAME_OFFSET_MASK,
		.n_buckets = (uint32_t)(f->text.n_bytes >> 8) + 1,
		.pages_at = PAGES_AT,
		.rules_at = RULES_AT,
		.serial = 2,
		.n_rule_words = 2,
	};
}

static void make_segment(struct fixture *f)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	uint32_t zero = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(uint32_t), WIRE_SEGMENT_BYTES,
				1, &mmapable);

	assert_true(fd >= 0);
	f->segment = mmap(NULL, WIRE_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(f->segment != MAP_FAILED);
	assert_int_equal(bpf_map_update_elem(f->maps.segments_fd, &zero, &fd, BPF_ANY), 0);
	assert_int_equal(close(fd), 0);
}

static void on_sample(const struct sample *sample, void *data)
{
	struct fixture *f = data;
	uint64_t frame = sample->head->n_user ? sample->user_frames[0] : WIRE_FRAME_RAW;

	if (sample->head->pid != (uint32_t)getpid())
		return;
	f->exec_id = sample->head->exec_id;
	if (frame & WIRE_FRAME_RAW)
		return;
	if (sample->head->end == STOP_REASON_ROOT && sample->head->n_user == 1)
		f->n_root++;
	else
		f->n_other++;
	f->n_misnamed += frame - f->frame_base >= f->text.n_bytes;
}

/* What was sampled since the last time. */
static void look(struct fixture *f)
{
	assert_int_equal(sampler_read(f->sampler, on_sample, f), 0);
	f->n_root = f->n_other = f->n_misnamed = 0;
	spin_cpu_ms(300);
	assert_int_equal(sampler_read(f->sampler, on_sample, f), 0);
}

static int setup(void **state)
{
	struct sampler_options options = SAMPLER_OPTIONS_INIT;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	if (refused())
		return 0;
	(void)dl_iterate_phdr(find_text, &f->text);
	assert_in_range(f->text.n_bytes, 1, MAX_TEXT_BYTES);
	f->frame_base = ((uint64_t)OBJECT << WIRE_FRAME_OFFSET_BITS) + 0x1000;
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	options.telemetry = f->telemetry;
	options.hz = 997;
	options.no_kernel = true;
	options.cache_bytes = (size_t)64 << 20;
	assert_int_equal(sampler_new(&options, &why, &f->sampler), 0);
	sampler_tables(f->sampler, &f->maps);
	f->objects = mmap(NULL, f->maps.max_objects * sizeof(*f->objects), PROT_READ | PROT_WRITE,
			  MAP_SHARED, f->maps.objects_fd, 0);
	assert_true(f->objects != MAP_FAILED);
	make_segment(f);
	publish_object(f);
	assert_int_equal(sampler_start(f->sampler, &why), 0);
	look(f);
	publish_process(f, 1);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->segment)
		(void)munmap(f->segment, WIRE_SEGMENT_BYTES);
	if (f->objects)
		(void)munmap(f->objects, f->maps.max_objects * sizeof(*f->objects));
	sampler_free(f->sampler);
	telemetry_free(f->telemetry);
	free(f);
	return 0;
}

static void test_table_withdrawn(void **state)
{
	struct fixture *f = *state;

	if (!f->sampler)
		skip();
	look(f);
	assert_true(f->n_root > 100);
	assert_int_equal(f->n_other, 0);
	/* From now on there is no rule, but frames that were looked up before are remembered: without that there is no cache to test. */
	f->segment[RULES_AT + 1] = 0;
	look(f);
	assert_true(f->n_root > 0);
	__atomic_add_fetch(f->maps.table_epoch, 1, __ATOMIC_RELEASE);
	look(f);
	assert_int_equal(f->n_root, 0);
	assert_true(f->n_other > 100);
}

static void test_mappings_replaced(void **state)
{
	struct fixture *f = *state;

	if (!f->sampler)
		skip();
	look(f);
	assert_true(f->n_root > 100);
	assert_int_equal(f->n_misnamed, 0);
	f->frame_base += (uint64_t)1 << WIRE_FRAME_OFFSET_BITS;
	publish_process(f, 2);
	look(f);
	assert_true(f->n_root > 100);
	assert_int_equal(f->n_misnamed, 0);
}

static int quiet(void **state)
{
	(void)state;
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	return 0;
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_table_withdrawn),
	FIXTURE_TEST(test_mappings_replaced),
};

TEST_MAIN_WITH(tests, quiet, NULL)
