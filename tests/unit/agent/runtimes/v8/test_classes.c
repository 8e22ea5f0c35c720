/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of methods, by sources of every kind: each method as "Class.method". A source that is not understood has none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>

#include "agent/runtimes/v8/classes.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

/* In their order; NULL: not understood. */
struct row {
	const char *source;
	const char *methods;
};

static void append(char to[4096], const char *source, struct source_part part)
{
	size_t at = strlen(to);

	(void)snprintf(to + at, 4096 - at, "%.*s", (int)(part.end - part.begin),
		       source + part.begin);
}

static void list(const char *source, const struct class_methods *m, char to[4096])
{
	for (size_t i = 0; i < m->n; i++) {
		const struct class_method *method = &m->methods[i];

		if (*to)
			strcat(to, " ");
		append(to, source, method->of);
		strcat(strcat(to, "."), method->before);
		append(to, source, method->name);
		/* What V8 has as its place. */
		assert_true(strchr("(xa", source[method->place.begin]) != NULL);
		assert_true(strchr("}z`", source[method->place.end - 1]) != NULL);
		assert_true(i == 0 || method->place.begin > method[-1].place.begin);
	}
}

static void check(const struct row *row)
{
	const struct source s = { row->source, (uint32_t)strlen(row->source), false };
	struct class_methods m = { 0 };
	char seen[4096] = "";

	int r = class_methods_read(&s, SIZE_MAX, &m);
	if (r != (row->methods ? 0 : -EINVAL))
		fail_msg("%d for %s", r, row->source);
	if (r < 0)
		return;
	list(row->source, &m, seen);
	if (strcmp(seen, row->methods) != 0)
		fail_msg("%s\nhas   %s\nnot   %s", row->source, seen, row->methods);
	free(m.methods);
}

static void check_all(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(&rows[i]);
}

static void test_members(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "class A { m() {} }", "A.m" },
		{ "class A { constructor() {} static s(a, b = {}) { return 1 } #p() {} }",
		  "A.constructor A.s A.#p" },
		{ "class A { get x() { return 1 } set x(v) {} static get y() {} get() {} set() {} "
		  "}",
		  "A.get x A.set x A.get y A.get A.set" },
		{ "class A { async a() {} *g() {} async *ag() {} static async *s() {} }",
		  "A.a A.g A.ag A.s" },
		{ "class A { async\n b() {} static() {} async() {} static static() {} }",
		  "A.b A.static A.async A.static" },
		{ "class A { if() {} class() {} function() {} return() {} in() {} }",
		  "A.if A.class A.function A.return A.in" },
		/* Those whose name is no word have none. */
		{ "class A { [f()]() {} 'a b'() {} 1() {} [`x`]() {} last() {} }", "A.last" },
		{ "class A { x = 1\n m() {} y\n n() {} z = a\n in b\n o() {} }", "A.m A.n A.o" },
		{ "class A { f = () => { g() }\n m() {} h = function () {}\n n() {} }",
		  "A.f A.m A.n" },
		{ "class A { a = x => { }; static b = async () => { }\n #c = async x => { } }",
		  "A.a A.b A.#c" },
		{ "class A { a = x => ({ y: class B { m() {} } }).z }", "A.a B.m" },
		{ "class A { a = (x = () => { }) => `${x}`; b = (1 + 2); c = f(() => { }) }",
		  "A.a" },
		{ "class A { [a] = () => { }; 'b' = () => { }; 1 = x => x; c = x }", "" },
		{ "class A { static { f() } m() { { } } static {} n() {} }", "A.m A.n" },
		{ "class A { #x\n #y = 1; has(o) { return #x in o } }", "A.has" },
		{ "class A { x = class { n() {} }; m() {} }", "x.n A.m" },
		{ "class \\u0041 { m() {} }", "" },
		{ "class A { \\u006d() {} n() {} }", "A.n" },
		{ "function f() { class A { m() { class B { n() {} } } o() {} } }", "A.m B.n A.o" },
		{ "({ m() {}, get x() {}, a: class B { n() {} }, *g() {}, async h() {} })", "B.n" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

static void test_names_of_classes(void **state)
{
	static const struct row rows[] = {
		{ "const A = class { m() {} }", "A.m" },
		{ "const A = class B { m() {} }", "B.m" },
		{ "A = class extends B { m() {} }", "A.m" },
		/* These have no name that everybody would give them. */
		{ "module.exports = class { m() {} }", "" },
		{ "a.B = class { m() {} }", "" },
		{ "f(class { m() {} })", "" },
		{ "A = (class { m() {} })", "" },
		{ "A == class { m() {} }", "" },
		{ "export default class { m() {} }", "" },
		{ "export default class A { m() {} }\n/a'/", "A.m" },
		{ "class A extends f(class B { n() {} }) { m() {} }", "B.n A.m" },
		{ "class A extends {}.x { m() {} }", "A.m" },
		{ "class A extends (b, c) { m() {} }", "A.m" },
		{ "class A extends class B {} { m() {} }", NULL },
		{ "class async { m() {} } class of { n() {} }", "async.m of.n" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

/* What hides a class, or shows one that there is not, if it is taken for something else. */
static void test_slashes_and_texts(void **state)
{
	static const struct row rows[] = {
		{ "a = b / class_ / c; class A { m() {} }", "A.m" },
		{ "x = /class A { m() {} }/; y = /[/'{]/g; class B { n() {} }", "B.n" },
		{ "if (a) /'/.test(b); class A { m() {} }", "A.m" },
		{ "a = (b) / 2; c = d[0] / 2 / '}'; class A { m() {} }", "A.m" },
		{ "{} /'/.test(a); class A { m() {} }", "A.m" },
		{ "a = {} / 2 / 1; class A { m() {} }", "A.m" },
		{ "function f() {} /'/.test(a); class A { m() {} }", "A.m" },
		{ "a = function () {} / 2 / 1; class A { m() {} }", "A.m" },
		{ "class B {} /'/.test(a); class A { m() {} }", "A.m" },
		{ "a = class {} / 2 / 1; class A { m() {} }", "A.m" },
		{ "a++ / 2; b = ++/x/.y; class A { m() {} }", "A.m" },
		{ "switch (a) { case /'/: { } default: { } /'/ }; class A { m() {} }", "A.m" },
		{ "x = a ? b : {} / 2; y: {} /'/; class A { m() {} }", "A.m" },
		{ "return\n{} /'/; class A { m() {} }", "A.m" },
		{ "return {} / 2; class A { m() {} }", "A.m" },
		{ "x.if(a) / 2; x?.for(b) / 2; class A { m() {} }", "A.m" },
		{ "for await (const x of y) /'/; class A { m() {} }", "A.m" },
		{ "`class A { m() {} ${`}${{ a: '}' }}`} {`; class B { n() {} }", "B.n" },
		{ "'class A { m() {} \\\n }'; \"'\"; class B { n() {} }", "B.n" },
		{ "// class A { m() {} }\n/* class B { m() {} } */ class C { m() {} }", "C.m" },
		{ "#!class A {\nclass B { m() {} }", "B.m" },
		{ "a = 1.5e+3 / .5 / 0xe+1 / 1n / 1_0.; b = 1..x / 2; class A { m() {} }", "A.m" },
		{ "do x(); while (a) /'/; class A { m() {} }", "A.m" },
		{ "a = async function () {} / 2; class A { m() {} }", "A.m" },
		{ "async function f() {} /'/; class A { m() {} }", "A.m" },
		{ "import { a } from 'b' with { type: 'c' }; export { d as e }; export const f = "
		  "{}; class A { m() {} }",
		  "A.m" },
		{ "a\n{ b }\nclass A { m() {} }", "A.m" },
		{ "a?.5:1; b ?? c; d ||= {}; e?.[f]?.(g); class A { m() {} }", "A.m" },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

/* Nothing is said where it is not certain, or no program is like that. */
static void test_not_understood(void **state)
{
	static const struct row rows[] = {
		{ "class A { m() {} } yield /a/", NULL },
		{ "class A { m() {} } await / 2", NULL },
		{ "class A { m() {} } a = () => {}\n/b/", NULL },
		{ "class A { m() {} } yield\n{ }", NULL },
		{ "class A { m() {} } <!-- b", NULL },
		{ "class A { m() {} }\n--> b", NULL },
		{ " /* a */ --> class A { m() {} }", NULL },
		{ "class A { m() {} } }", NULL },
		{ "class A { m() {} ", NULL },
		{ "class A { m() {} } (", NULL },
		{ "class A { m() {} } ( ]", NULL },
		{ "class A { m() {} } 'a", NULL },
		{ "class A { m() {} } 'a\n'", NULL },
		{ "class A { m() {} } /a\n/", NULL },
		{ "class A { m() {} } `a", NULL },
		{ "class A { m() {} } `${a", NULL },
		{ "class A { m() {} } /* a", NULL },
		{ "class A { m() {} } a ? b", NULL },
		{ "class A { m() {} } @b", NULL },
		{ "class A { m() {} } a {", NULL },
		{ "class A { m() {} } class B", NULL },
		{ "class A { m() } ", NULL },
		{ "class A { m() {} } function", NULL },
		{ "class A { m() {} } 'a\\", NULL },
		{ "class A { m() {} } \\u{", NULL },
		{ "class A { {} }", NULL },
	};

	(void)state;
	check_all(rows, ARRAY_SIZE(rows));
}

static void test_wide(void **state)
{
	static const char16_t text[] = u"/* \u2028 */ class \u4e2d { \u00fc() {} }\u2029";
	const struct source s = { text, ARRAY_SIZE(text) - 1, true };
	struct class_methods m = { 0 };

	(void)state;
	assert_int_equal(class_methods_read(&s, SIZE_MAX, &m), 0);
	assert_int_equal(m.n, 1);
	assert_int_equal(m.methods[0].of.end - m.methods[0].of.begin, 1);
	assert_int_equal(text[m.methods[0].of.begin], 0x4e2d);
	assert_int_equal(text[m.methods[0].name.begin], 0xfc);
	free(m.methods);
}

/* Brackets without end, classes without end. */
static void test_deep(void **state)
{
	enum { N = 100000 };
	static char deep[N], wide[N];
	const struct source levels = { deep, N, false };
	struct class_methods m = { 0 };

	(void)state;
	memset(deep, '(', sizeof(deep));
	assert_int_equal(class_methods_read(&levels, SIZE_MAX, &m), -EINVAL);
	for (size_t i = 0; i < N; i += 10)
		memcpy(wide + i, "class A{} ", 10);
	assert_int_equal(class_methods_read(&(struct source){ wide, N, false }, SIZE_MAX, &m),
			 -EINVAL);
	memcpy(wide, "class A { ", 10);
	for (size_t i = 10; i + 6 <= N; i += 6)
		memcpy(wide + i, "a(){} ", 6);
	wide[N - 1] = '}';
	memset(wide + (N - 10) / 6 * 6 + 10, ' ', (N - 10) % 6);
	wide[N - 1] = '}';
	assert_int_equal(class_methods_read(&(struct source){ wide, N, false }, SIZE_MAX, &m), 0);
	/* No script has more. */
	assert_int_equal(m.n, 16384);
	free(m.methods);
}

static const struct unit_test tests[] = {
	TEST(test_members),
	TEST(test_names_of_classes),
	TEST(test_slashes_and_texts),
	TEST(test_not_understood),
	TEST(test_wide),
	TEST(test_deep),
};

TEST_MAIN(tests)
