/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames that the kernel half remembers: used while they hold, and not a walk longer.
 *
 * Our own text is published as an object whose every address is the outermost frame; then its table, or the process's mappings, change
 * under the cache.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/sample/sampler.h"
#include "agent/util/log.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/own_text.h"
#include "tests/unit/agent/sample/refused.h"
#include "tests/unit/agent/sample/spin.h"

struct fixture {
	struct telemetry *telemetry;
	struct sampler *sampler;
	struct sampler_tables maps;
	struct wire_object *objects; /* the map's memory */
	struct own_text text;
	uint32_t exec_id; /* ours, as samples tell it */
	/* Of our samples with the leaf in our text: */
	uint64_t n_root;     /* that end there */
	uint64_t n_other;    /* that go on */
	uint64_t n_misnamed; /* not by the present text.frame_base */
};

static void publish_process(struct fixture *f, uint32_t generation)
{
	own_text_publish_process(&f->text, f->maps.processes_fd, generation, f->exec_id);
}

static void publish_object(struct fixture *f)
{
	const struct wire_rule root = { .cfa = WIRE_RULE_OF(RULE_CFA_REG, WIRE_ABI_SP),
					.fp_ra = WIRE_RA_UNDEFINED << 4,
					.cfa_off = 8 };

	own_text_publish_object(&f->text, f->objects, &root);
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
	f->n_misnamed += frame - f->text.frame_base >= f->text.n_bytes;
}

/* What was sampled since the last time. */
static void look(struct fixture *f)
{
	assert_int_equal(sampler_read(f->sampler, 0, on_sample, f, NULL), 0);
	f->n_root = f->n_other = f->n_misnamed = 0;
	spin_cpu_ms(300);
	assert_int_equal(sampler_read(f->sampler, 0, on_sample, f, NULL), 0);
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
	own_text_init(&f->text, f->maps.segments_fd);
	publish_object(f);
	assert_int_equal(sampler_start(f->sampler, &why), 0);
	look(f);
	publish_process(f, 1);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	own_text_fini(&f->text);
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
	f->text.segment[OWN_TEXT_RULES_AT + 1] = 0;
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
	f->text.frame_base += (uint64_t)1 << WIRE_FRAME_OFFSET_BITS;
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
