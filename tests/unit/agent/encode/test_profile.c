/* SPDX-License-Identifier: Apache-2.0 */
/* One profile: its references over threads, its forms, each made once. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "tests/support/broken_contract.h"
#include "tests/support/small_profile.h"
#include "tests/support/unit.h"

#define N_THREADS 4
#define N_TURNS 20000

static struct labels *make_labels(const char *service)
{
	const struct label item = { "service_name", service };
	struct labels *labels = NULL;

	assert_int_equal(labels_new(&item, 1, &labels), 0);
	return labels;
}

static struct profile *make_profile(void)
{
	struct labels *labels = make_labels("s");
	struct profile *p = small_profile(labels);

	assert_int_equal(labels->n_refs, 2);
	labels_unref(labels);
	return p;
}

static void test_a_form_is_made_once(void **state)
{
	struct profile *p = make_profile();
	size_t n_bytes = profile_memory_bytes(p);

	(void)state;
	assert_null(profile_form(p, FORM_PPROF));
	assert_int_equal(profile_make(p, FORM_PPROF), 0);
	const struct shared_bytes *first = profile_form(p, FORM_PPROF);
	assert_int_equal(profile_make(p, FORM_PPROF), 0);
	assert_ptr_equal(profile_form(p, FORM_PPROF), first);
	assert_null(profile_form(p, FORM_FOLDED));
	assert_int_equal(profile_memory_bytes(p), n_bytes + first->n);
	profile_unref(p);
}

/* Who only sends bytes keeps neither tables nor the profile. */
static void test_forms_outlive_tables(void **state)
{
	struct profile *p = make_profile();

	(void)state;
	assert_int_equal(profile_make(p, FORM_FOLDED), 0);
	profile_drop_tables(p);
	assert_int_equal(profile_make(p, FORM_FOLDED), 0);
	assert_int_equal(profile_make(p, FORM_PPROF), -ENODATA);
	assert_null(profile_form(p, FORM_PPROF));
	struct shared_bytes *text = shared_bytes_ref(profile_form(p, FORM_FOLDED));
	profile_unref(p);
	assert_int_equal(text->n_refs, 1);
	assert_memory_equal(text->data, "s;f 1\n", text->n);
	shared_bytes_unref(text);
	shared_bytes_unref(NULL);
}

static void make_form(void *profile)
{
	(void)profile_make(profile, FORM_FOLDED);
}

/* Another thread may be reading it. */
static void test_what_is_shared_stays(void **state)
{
	struct profile *p = make_profile();

	(void)state;
	assert_false(is_broken_contract(make_form, p));
	struct profile *other = profile_ref(p);
	assert_true(is_broken_contract(make_form, p));
	profile_unref(other);
	profile_unref(p);
}

static void test_folded(void **state)
{
	struct profile *p = make_profile();
	struct pprof_bytes text;

	(void)state;
	assert_int_equal(profile_encode(p, FORM_FOLDED, &text), 0);
	assert_int_equal(text.n, strlen("s;f 1\n"));
	assert_memory_equal(text.data, "s;f 1\n", text.n);
	assert_null(profile_form(p, FORM_FOLDED));
	pprof_bytes_fini(&text);
	profile_unref(p);
}

static void test_other_labels(void **state)
{
	struct labels *other = make_labels("other");
	struct profile *p = make_profile();

	(void)state;
	profile_set_labels(p, other);
	assert_int_equal(other->n_refs, 2);
	profile_unref(p);
	assert_int_equal(other->n_refs, 1);
	labels_unref(other);
}

/* Tables and bytes are shared, and stay as long as either. */
static void test_relabelled(void **state)
{
	struct labels *labels = make_labels("other");
	struct profile *p = make_profile(), *other = NULL;

	(void)state;
	p->spread_ns = 7;
	assert_int_equal(profile_make(p, FORM_PPROF), 0);
	struct shared_bytes *bytes = profile_form(p, FORM_PPROF);
	assert_int_equal(profile_relabelled(p, labels, &other), 0);
	assert_string_equal(labels_get(other->labels, "service_name"), "other");
	assert_string_equal(labels_get(p->labels, "service_name"), "s");
	assert_ptr_equal(profile_form(other, FORM_PPROF), bytes);
	assert_ptr_equal(other->tables, p->tables);
	assert_int_equal(other->n_samples, p->n_samples);
	assert_int_equal(other->spread_ns, 7);
	profile_unref(p);
	assert_int_equal(bytes->n_refs, 2);
	assert_int_equal(pprof_builder_n_samples(other->tables), 1);
	profile_unref(other);
	assert_int_equal(labels->n_refs, 1);
	labels_unref(labels);
}

static void *turn_references(void *data)
{
	struct profile *p = data;

	for (size_t i = 0; i < N_TURNS; i++) {
		struct profile *mine = profile_ref(p);
		struct labels *labels = labels_ref(mine->labels);

		assert_int_equal(pprof_builder_n_samples(mine->tables), 1);
		labels_unref(labels);
		profile_unref(mine);
	}
	profile_unref(p);
	return NULL;
}

/* The last reference may be dropped by any of them. */
static void test_references_of_several_threads(void **state)
{
	struct profile *p = make_profile();
	struct labels *labels = labels_ref(p->labels);
	pthread_t threads[N_THREADS];

	(void)state;
	for (size_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, turn_references, profile_ref(p)),
				 0);
	profile_unref(p);
	for (size_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(labels->n_refs, 1);
	labels_unref(labels);
}

static const struct unit_test tests[] = {
	TEST(test_a_form_is_made_once),
	TEST(test_forms_outlive_tables),
	TEST(test_what_is_shared_stays),
	TEST(test_folded),
	TEST(test_other_labels),
	TEST(test_relabelled),
	TEST(test_references_of_several_threads),
};

TEST_MAIN(tests)
