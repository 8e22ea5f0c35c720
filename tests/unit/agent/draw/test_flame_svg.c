/* SPDX-License-Identifier: Apache-2.0 */
/* The picture: well-formed whatever is in it, bars where they belong, bounded. */
#include <stdio.h>

#include "agent/draw/flame_svg.h"
#include "agent/draw/svg_colour.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/support/xml_check.h"
#include "tests/unit/agent/draw/graph.h"

#define MAX_BYTES ((size_t)64 << 20)
/* What cairo can draw. */
#define MAX_PIXELS 32767
/* As flame_svg.c says. */
#define MAX_BARS 20000

/* Takes a new tree. */
static struct buf picture_of(struct call_tree *tree)
{
	struct buf out = BUF_INIT(MAX_BYTES);

	assert_int_equal(call_tree_finish(tree), 0);
	assert_int_equal(flame_svg(&(struct flame_tree){ .calls = tree }, &graph_facts, &out), 0);
	assert_true(xml_is_well_formed(buf_str(&out), out.len));
	call_tree_free(tree);
	return out;
}

static void assert_has(const struct buf *picture, const char *text)
{
	if (!strstr(buf_str(picture), text))
		fail_msg("%s\nis not in\n%s", text, buf_str(picture));
}

static size_t count(const struct buf *picture, const char *text)
{
	size_t n = 0;

	for (const char *at = buf_str(picture); (at = strstr(at, text)); at++)
		n++;
	return n;
}

static int height_of(const struct buf *picture)
{
	int height = 0;

	assert_int_equal(sscanf(strstr(buf_str(picture), " height="), " height=\"%d\"", &height),
			 1);
	return height;
}

static void test_bars(void **state)
{
	struct call_tree *tree = graph_new();

	(void)state;
	graph_add(tree, 150, STACK("make", "main", "spin"));
	graph_add(tree, 50, STACK("make", "main"));
	graph_add(tree, 200, STACK("sh", "main"));
	_cleanup_buf_ struct buf picture = picture_of(tree);
	assert_has(&picture, "<title>CPU time of make</title>");
	assert_has(&picture, ">612 samples in 6.3 s at 100 Hz, on web-1, 2023-11-14 22:13:20 UTC<");
	assert_has(&picture, "<title>total: 400 samples, 4.00 s, 100 %</title>"
			     "<rect x=\"12.00\" y=\"66\" width=\"1175.30\"");
	assert_has(&picture, "<title>main: 200 samples, 2.00 s, 50 %; itself 50</title>"
			     "<rect x=\"12.00\" y=\"102\" width=\"587.30\"");
	assert_has(&picture, "<title>spin: 150 samples, 1.50 s, 37.5 %</title>"
			     "<rect x=\"12.00\" y=\"120\" width=\"440.30\"");
	assert_has(&picture, "<title>sh: 200 samples, 2.00 s, 50 %</title>"
			     "<rect x=\"600.00\" y=\"84\" width=\"587.30\"");
	assert_int_equal(count(&picture, "<rect x="), 6);
	assert_int_equal(count(&picture, "</text></g>"), 6);
	assert_int_equal(count(&picture, "Left out"), 0);
	/* A picture with a script is none that a viewer trusts. */
	assert_int_equal(count(&picture, "<script"), 0);
	assert_int_equal(count(&picture, "href"), 0);
}

static void test_one_sample(void **state)
{
	struct call_tree *tree = graph_new();

	(void)state;
	graph_add(tree, 1, STACK("make", "main"));
	_cleanup_buf_ struct buf picture = picture_of(tree);
	assert_has(&picture, "<title>main: 1 sample, 10 ms, 100 %</title>");
}

static void test_empty(void **state)
{
	(void)state;
	_cleanup_buf_ struct buf picture = picture_of(graph_new());
	assert_has(&picture, "No samples: nothing of what was profiled used a CPU.");
	assert_int_equal(count(&picture, "<rect x="), 0);
}

static void test_names_are_cut_to_their_bars(void **state)
{
	struct call_tree *tree = graph_new();

	(void)state;
	graph_add(tree, 40, STACK("make", "a_function_with_a_long_name"));
	graph_add(tree, 4, STACK("make", "tiny_bar"));
	graph_add(tree, 50, STACK("make", "net/http.(*a/b).f"));
	graph_add(tree, 906, STACK("make", "net/http.(*Server).Serve"));
	_cleanup_buf_ struct buf picture = picture_of(tree);
	/* 47 pixels, a column is 6.7. */
	assert_has(&picture, ">a_fu\xe2\x80\xa6</text>");
	assert_has(&picture, ">http.(\xe2\x80\xa6</text>");
	assert_has(&picture, ">net/http.(*Server).Serve</text>");
	assert_has(&picture, "<title>a_function_with_a_long_name: 40 samples");
	assert_has(&picture, "<title>tiny_bar: 4 samples");
	assert_int_equal(count(&picture, ">tiny"), 1);
}

static void test_narrow_bars_are_left_out_and_counted(void **state)
{
	struct call_tree *tree = graph_new();

	(void)state;
	graph_add(tree, 10000, STACK("make", "main"));
	graph_add(tree, 1, STACK("make", "rare", "rarer"));
	graph_add(tree, 1, STACK("make", "rare", "rarest"));
	_cleanup_buf_ struct buf picture = picture_of(tree);
	assert_int_equal(count(&picture, "<rect x="), 3);
	assert_has(&picture, "Left out: 3 bars narrower than 0.25 pixels.");
}

/* 600 columns, two pixels each, that share nothing: more bars than a browser likes. */
static void test_wide_and_deep_is_bounded(void **state)
{
	struct call_tree *tree = graph_new();
	char text[32];

	(void)state;
	for (int i = 0; i < 600; i++) {
		const char *names[62] = { "make", text };

		(void)snprintf(text, sizeof(text), "f%d", i);
		for (size_t k = 2; k + 1 < ARRAY_SIZE(names); k++)
			names[k] = "descend";
		graph_add(tree, i % 6 ? 1 : 2, names);
	}
	_cleanup_buf_ struct buf picture = picture_of(tree);
	assert_true(count(&picture, "<rect x=") <= MAX_BARS);
	/* The wider ones stay. */
	assert_int_equal(count(&picture, "<rect x="), 2 + 100 * 60);
	assert_has(&picture, "Left out: 30000 bars narrower than ");
}

static void test_too_deep_is_cut(void **state)
{
	struct call_tree *tree = graph_new();
	static const char *names[4001];

	(void)state;
	for (size_t i = 0; i + 1 < ARRAY_SIZE(names); i++)
		names[i] = "descend";
	graph_add(tree, 1, names);
	_cleanup_buf_ struct buf picture = picture_of(tree);
	assert_true(height_of(&picture) <= MAX_PIXELS);
	assert_int_equal(count(&picture, "<rect x="), 1800);
	assert_has(&picture, "Left out: 2201 bars narrower than 0.25 pixels or too deep.");
}

static void test_long_name(void **state)
{
	struct call_tree *tree = graph_new();
	static char name[100000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	graph_add(tree, 1, STACK("make", name));
	_cleanup_buf_ struct buf picture = picture_of(tree);
	assert_true(picture.len < 8192);
}

static void test_ceiling(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = graph_new();
	_cleanup_buf_ struct buf out = BUF_INIT(1000);

	(void)state;
	assert_int_equal(call_tree_finish(tree), 0);
	assert_true(flame_svg(&(struct flame_tree){ .calls = tree }, &graph_facts, &out) < 0);
}

static void test_name(void **state)
{
	const struct hostile *h = *state;
	struct call_tree *tree = graph_new();

	graph_add(tree, 1, STACK(h->text, "main", h->text));
	_cleanup_buf_ struct buf picture = picture_of(tree);
	assert_int_equal(count(&picture, "<rect x="), 4);
}

static void test_subject(void **state)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = graph_new();
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
	const struct hostile *h = *state;
	const struct flame_facts facts = { .subject = h->text, .host = h->text, .hz = 1 };

	assert_int_equal(call_tree_finish(tree), 0);
	assert_int_equal(flame_svg(&(struct flame_tree){ .calls = tree }, &facts, &out), 0);
	assert_true(xml_is_well_formed(buf_str(&out), out.len));
}

/* Dark letters stand on it, and no name is without one. */
static void test_colours(void **state)
{
	static const char *const names[] = { "main",  "_start", "tcp_sendmsg", "a::b::c(int)",
					     "x.y/z", "",	"operator<<",  "_____" };

	(void)state;
	for (unsigned int kind = 0; kind < FLAME_KIND_MAX; kind++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			uint32_t c = svg_colour(kind, names[i]);

			assert_true((c >> 8 & 0xff) >= 0x80 && c <= 0xffffff);
			assert_int_equal(svg_colour(kind, names[i]), c);
		}
	for (unsigned int kind = 1; kind < FLAME_KIND_MAX; kind++)
		assert_int_not_equal(svg_colour_of_kind(kind), svg_colour_of_kind(kind - 1));
}

static void test_kinds_have_a_legend(void **state)
{
	struct call_tree *calls = graph_new();
	/* total, make, vfs_read, main */
	uint8_t kinds[] = { FLAME_PROGRAM, FLAME_PROGRAM, FLAME_KERNEL };
	const struct flame_tree tree = { calls, kinds, ARRAY_SIZE(kinds) };
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
	char fill[32];

	(void)state;
	graph_add(calls, 1, STACK("make", "vfs_read"));
	graph_add(calls, 1, STACK("make", "main"));
	assert_int_equal(call_tree_finish(calls), 0);
	assert_int_equal(flame_svg(&tree, &graph_facts, &out), 0);
	(void)snprintf(fill, sizeof(fill), "fill=\"#%06x\"/><text",
		       svg_colour(FLAME_KERNEL, "vfs_read"));
	assert_has(&out, fill);
	assert_has(&out, ">program</text>");
	assert_has(&out, ">kernel</text>");
	assert_int_equal(count(&out, "class=\"key\""), 2);
	call_tree_free(calls);
}

static const struct unit_test tests[] = {
	TEST(test_bars),
	TEST(test_one_sample),
	TEST(test_empty),
	TEST(test_names_are_cut_to_their_bars),
	TEST(test_narrow_bars_are_left_out_and_counted),
	TEST(test_wide_and_deep_is_bounded),
	TEST(test_too_deep_is_cut),
	TEST(test_long_name),
	TEST(test_ceiling),
	TEST(test_colours),
	TEST(test_kinds_have_a_legend),
	TEST_ROWS(test_name, hostiles, name),
	TEST_ROWS(test_subject, hostiles, name),
};

TEST_MAIN(tests)
