/* SPDX-License-Identifier: Apache-2.0 */
/* string.format: verbs, flags, and what stands in the text when they do not fit. */
#include "tests/unit/river-config/stdlib_test.h"

/* A verb with one argument. */
#define F(spec, arg, expected) OK("string.format(\"" spec "\", " arg ")", "\"" expected "\"")

static const struct row rows[] = {
	OK("string.format(\"\")", "\"\""),
	OK("string.format(\"a%%b\")", "\"a%b\""),
	OK("format(\"%s-%s\", \"a\", \"b\")", "\"a-b\""),
	OK("string.format(5)", "\"5\""),
	OK("string.format(null)", "\"\""),
	BAD("string.format()", "1:1: string.format expected at least 1 args, got 0"),
	BAD("string.format([])", "1:15: [] should be string, got array"),
	/* whole numbers */
	F("%d", "-5", "-5"),
	F("%5d|", "42", "   42|"),
	F("%-5d|", "42", "42   |"),
	F("%05d", "-42", "-0042"),
	F("%-05d|", "42", "42   |"),
	F("%+d", "5", "+5"),
	F("% d", "5", " 5"),
	F("%.3d", "5", "005"),
	F("%.0d|", "0", "|"),
	F("%5.0d|", "0", "     |"),
	F("%8.3d|", "-5", "    -005|"),
	F("%d", "max", "18446744073709551615"),
	F("%d", "0 - 9223372036854775807 - 1", "-9223372036854775808"),
	F("%b", "5", "101"),
	F("%#b", "5", "0b101"),
	F("%o", "8", "10"),
	F("%#o", "8", "010"),
	F("%O", "8", "0o10"),
	F("%x", "-255", "-ff"),
	F("%X", "255", "FF"),
	F("%#x", "255", "0xff"),
	F("%#X", "255", "0XFF"),
	F("%#08x", "255", "0x000000ff"),
	F("%c", "228", "\xc3\xa4"),
	F("%c", "1114112", "\xef\xbf\xbd"),
	F("%q", "39", "'\\\\''"),
	F("%q", "228", "'\xc3\xa4'"),
	F("%+q", "228", "'\\\\u00e4'"),
	F("%U", "228", "U+00E4"),
	F("%#U", "228", "U+00E4 '\xc3\xa4'"),
	F("%#v", "max", "0xffffffffffffffff"),
	/* numbers with a point */
	F("%f", "1.5", "1.500000"),
	F("%.2f", "2.675", "2.67"),
	F("%.0f", "2.5", "2"),
	F("%8.3f|", "3.14159", "   3.142|"),
	F("%-8.1f|", "3.14159", "3.1     |"),
	F("%08.3f", "-3.14159", "-003.142"),
	F("%+.1f", "2.0", "+2.0"),
	F("%#.0f", "2.0", "2."),
	F("%F", "1.5", "1.500000"),
	F("%e", "123456.789", "1.234568e+05"),
	F("%E", "0.00012", "1.200000E-04"),
	F("%.0e", "15.0", "2e+01"),
	F("%g", "100000.0", "100000"),
	F("%g", "1000000.0", "1e+06"),
	F("%g", "123456789.0", "1.23456789e+08"),
	F("%g", "0.0001", "0.0001"),
	F("%g", "0.00001", "1e-05"),
	F("%.3g", "123456789.0", "1.23e+08"),
	F("%#g", "1.0", "1.00000"),
	F("%G", "1e-10", "1E-10"),
	F("%v", "1e21", "1e+21"),
	F("%v", "0.1", "0.1"),
	F("%b", "1.0", "4503599627370496p-52"),
	F("%x", "1.5", "0x1.8p+00"),
	F("%.1x", "1.97", "0x1.0p+01"),
	F("%X", "0.1", "0X1.999999999999AP-04"),
	F("%e", "0.0", "0.000000e+00"),
	F("%g", "5e-324", "5e-324"),
	F("%f", "nan", "NaN"),
	F("%+05f", "inf", " +Inf"),
	F("%f", "inf", "+Inf"),
	F("%.3f", "1e20", "100000000000000000000.000"),
	/* texts */
	F("%5s|", "\"\xc3\xa4\"", "    \xc3\xa4|"),
	F("%-5s|", "\"ab\"", "ab   |"),
	F("%.1s", "\"\xc3\xa4z\"", "\xc3\xa4"),
	F("%05s", "\"ab\"", "000ab"),
	F("%q", "\"a\\\"b\\n\"", "\\\"a\\\\\\\"b\\\\n\\\""),
	F("%#q", "\"ab\"", "`ab`"),
	F("%+q", "\"\xc3\xa4\"", "\\\"\\\\u00e4\\\""),
	F("%q", "\"\\xff\\u2028\"", "\\\"\\\\xff\\\\u2028\\\""),
	F("%x", "\"hi\"", "6869"),
	F("%X", "\"hi~\"", "68697E"),
	F("% x", "\"hi\"", "68 69"),
	F("%#x", "\"hi\"", "0x6869"),
	F("%# x", "\"hi\"", "0x68 0x69"),
	F("%.1x", "\"hi\"", "68"),
	F("%6x|", "\"h\"", "    68|"),
	F("%v", "\"a b\"", "a b"),
	F("%#v", "\"a b\"", "\\\"a b\\\""),
	/* the rest */
	F("%t", "true", "true"),
	F("%6t|", "false", " false|"),
	F("%v", "null", "<nil>"),
	F("%6v|", "null", " <nil>|"),
	F("%v", "[1, \"a\", null, [true]]", "[1 a <nil> [true]]"),
	F("%#v", "[1, \"a\", null]", "[]interface {}{1, \\\"a\\\", interface {}(nil)}"),
	F("%v", "{b = 1, a = \"x\"}", "map[a:x b:1]"),
	F("%#v", "{b = 1}", "map[string]interface {}{\\\"b\\\":1}"),
	F("%v", "[]", "[]"),
	F("%v", "{}", "map[]"),
	F("%s", "[1, \"a\"]", "[%!s(int=1) a]"),
	F("%d", "{a = 1}", "map[%!d(string=a):1]"),
	F("%02d", "[1, 2]", "[01 02]"),
	F("%T", "1.5", "float64"),
	F("%T", "[]", "[]interface {}"),
	F("%T", "null", "<nil>"),
	F("%v", "cap", "capsule(\\\"T\\\")"),
	F("%s", "cap", "%!s(T=capsule(\\\"T\\\"))"),
	/* what does not fit */
	F("%d", "\"x\"", "%!d(string=x)"),
	F("%5d", "\"x\"", "%!d(string=    x)"),
	F("%s", "5", "%!s(int=5)"),
	F("%s", "1.5", "%!s(float64=1.5)"),
	F("%d", "1.5", "%!d(float64=1.5)"),
	F("%d", "true", "%!d(bool=true)"),
	F("%t", "\"true\"", "%!t(string=true)"),
	F("%s", "null", "%!s(<nil>)"),
	F("%s", "max", "%!s(uint=18446744073709551615)"),
	F("%z", "1", "%!z(int=1)"),
	F("%!", "1", "%!!(int=1)"),
	F("%\xc3\xa4", "1", "%!\xc3\xa4(int=1)"),
	F("%p", "1", "%!p(int=1)"),
	F("%w", "\"e\"", "%!w(string=e)"),
	F("%.", "3", "%!.(int=3)"),
	OK("string.format(\"%d\")", "\"%!d(MISSING)\""),
	OK("string.format(\"%d %d\", 1)", "\"1 %!d(MISSING)\""),
	OK("string.format(\"x\", 1, \"a\", null)", "\"x%!(EXTRA int=1, string=a, <nil>)\""),
	OK("string.format(\"100%\", 1)", "\"100%!(NOVERB)%!(EXTRA int=1)\""),
	OK("string.format(\"%-\")", "\"%!(NOVERB)\""),
	/* indices, and numbers from arguments */
	OK("string.format(\"%[2]s %[1]s\", \"a\", \"b\")", "\"b a\""),
	OK("string.format(\"%[1]s %s\", \"a\", \"b\")", "\"a b\""),
	OK("string.format(\"%[3]s\", \"a\")", "\"%!s(BADINDEX)\""),
	OK("string.format(\"%[0]s\", \"a\")", "\"%!s(BADINDEX)\""),
	OK("string.format(\"%[x]s\", \"a\")", "\"%!s(BADINDEX)\""),
	OK("string.format(\"%[s\", \"a\")", "\"%!s(BADINDEX)\""),
	OK("string.format(\"%[1]5s\", \"a\")", "\"%!s(BADINDEX)\""),
	OK("string.format(\"%*d\", 4, 7)", "\"   7\""),
	OK("string.format(\"%-*d|\", 4, 7)", "\"7   |\""),
	OK("string.format(\"%*d|\", -4, 7)", "\"7   |\""),
	OK("string.format(\"%[2]*[1]d\", 7, 4)", "\"   7\""),
	OK("string.format(\"%.*f\", 2, 1.0)", "\"1.00\""),
	OK("string.format(\"%*d\", \"x\", 7)", "\"%!(BADWIDTH)7\""),
	OK("string.format(\"%*d\", 1000001, 7)", "\"%!(BADWIDTH)7\""),
	OK("string.format(\"%.*d\", -1, 7)", "\"%!(BADPREC)7\""),
	OK("string.format(\"%10000011d\", 7)", "\"%!(NOVERB)%!(EXTRA int=7)\""),
	/* secrets */
	OK("string.format(\"%s\", plain)", "\"open\""),
	BAD("string.format(\"%s\", secret)", "1:21: secret should be string, got capsule"),
	BAD("string.format(\"%v\", [1, maybe])", "1:25: maybe should be string, got capsule"),
	BAD("string.format(secret)", "1:15: secret should be string, got capsule"),
};

/* A small text that wants much is a fault of memory, and soon. */
static void test_ceiling(void **state)
{
	struct output *out = malloc(sizeof(*out));

	(void)state;
	assert_non_null(out);
	stdlib_eval("string.format(\"%1000000d%1000000d%1000000d\", 1, 2, 3)", 1 << 20,
		    RIVER_STABILITY_GENERALLY_AVAILABLE, out);
	assert_string_equal(out->data, "fault");
	free(out);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(rows) + 1];
	size_t n = add_rows(tests, rows, ARRAY_LEN(rows), test_stdlib_row);

	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_ceiling);
	return cmocka_run_group_tests_name("river-config/stdlib_format", tests, NULL, NULL);
}
