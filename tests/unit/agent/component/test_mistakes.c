/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about mistakes in a configuration, and where. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

static const struct row {
	const char *name;
	const char *text;
	const char *expected;
} rows[] = {
	{ "unknown component", "pyroscope.ebfp \"a\" { forward_to = [] }\n",
	  "a:1:1: cannot find the definition of component name \"pyroscope.ebfp\"\n" },
	{ "unknown family", "pyrocsope.ebpf \"a\" { }\n",
	  "a:1:1: cannot find the definition of component name \"pyrocsope.ebpf\"\n" },
	{ "right family, nothing like it", "pyroscope.banana \"a\" { }\n",
	  "a:1:1: cannot find the definition of component name \"pyroscope.banana\"\n" },
	{ "another agent has it", "pyroscope.java \"a\" { }\n",
	  "a:1:1: component \"pyroscope.java\" is not supported by xagent\n" },
	{ "nothing like it", "banana \"a\" { }\n",
	  "a:1:1: cannot find the definition of component name \"banana\"\n" },
	{ "no label", "pyroscope.write { }\n",
	  "a:1:1: component \"pyroscope.write\" must have a label\n" },
	{ "empty label", "pyroscope.write \"\" { }\n",
	  "a:1:1: component \"pyroscope.write\" must have a label\n" },
	{ "label with a dot", "pyroscope.write \"a.b\" { }\n",
	  "a:1:17: expected block label to be a valid identifier, but got \"a.b\"\n" },
	{ "label on logging", "logging \"a\" { }\n",
	  "a:1:1: block \"logging\" requires empty label\n" },
	{ "twice", WRITE "\n" WRITE,
	  "a:7:1: block pyroscope.write.endpoint already declared at a:1:1\n" },
	{ "logging twice", "logging { }\nlogging { }\n",
	  "a:2:1: block logging already declared at a:1:1\n" },
	{ "attribute at the top", "a = 1\n" WRITE, "a:1:1: unrecognized attribute a\n" },
	{ "unknown argument", "pyroscope.ebpf \"a\" {\n\tforward_to = []\n\tsample_rat = 1\n}\n",
	  "a:3:2: unrecognized attribute name \"sample_rat\"\n" },
	{ "unknown block", "pyroscope.write \"a\" {\n\tendpoints { url = \"http://h\" }\n}\n",
	  "a:2:2: unrecognized block name \"endpoints\"\n" },
	{ "wrong types",
	  "pyroscope.ebpf \"a\" {\n\tforward_to = 1\n\ttargets = {}\n\ttargets_only = "
	  "\"yes\"\n\tsample_rate = \"fast\"\n"
	  "\tcollect_interval = 5\n\tdefault_target = []\n\tdemangle = true\n}\n",
	  "a:2:15: 1 should be array, got number\n"
	  "a:3:12: {} should be array, got object\n"
	  "a:4:17: \"yes\" should be bool, got string\n"
	  "a:5:16: \"fast\" should be number, got string\n"
	  "a:6:21: 5 time: missing unit in duration \"5\"\n"
	  "a:7:19: [] should be object, got array\n"
	  "a:8:13: true should be string, got bool\n" },
	{ "required", "pyroscope.ebpf \"a\" { }\npyroscope.write \"b\" {\n\tendpoint { }\n}\n",
	  "a:1:1: missing required attribute \"forward_to\"\n"
	  "a:3:2: missing required attribute \"url\"\n" },
	{ "missing reference",
	  "pyroscope.ebpf \"a\" {\n\tforward_to = [pyroscope.write.b.receiver]\n}\n" WRITE,
	  "a:2:16: component \"pyroscope.write.b.receiver\" does not exist or is out of scope\n" },
	{ "component without its export",
	  "pyroscope.ebpf \"a\" {\n\tforward_to = [pyroscope.write.endpoint.reciever]\n}\n" WRITE,
	  "a:2:41: field \"reciever\" does not exist\n" },
	{ "component itself",
	  "pyroscope.ebpf \"a\" {\n\tforward_to = [pyroscope.write.endpoint]\n}\n" WRITE,
	  "a:2:16: pyroscope.write.endpoint should be capsule, got object\n" },
	{ "part of a name", "pyroscope.ebpf \"a\" {\n\tforward_to = pyroscope.write\n}\n" WRITE,
	  "a:2:15: component \"pyroscope.write\" does not exist or is out of scope\n" },
	{ "wrong capsule",
	  "pyroscope.ebpf \"a\" {\n\tforward_to = [discovery.process.all.targets]\n}\n" DISCOVERY,
	  "a:2:16: discovery.process.all.targets should be capsule, got array\n" },
	{ "itself", "discovery.process \"a\" {\n\tjoin = discovery.process.a.targets\n}\n",
	  "-: cannot reference self\n" },
	{ "circle",
	  "discovery.process \"x\" {\n\tjoin = discovery.process.a.targets\n}\n"
	  "discovery.process \"a\" {\n\tjoin = discovery.process.b.targets\n}\n"
	  "discovery.process \"b\" {\n\tjoin = discovery.process.a.targets\n}\n",
	  "-: cycle detected: discovery.process.a, discovery.process.b\n" },
	{ "a cycle, and what is wrong besides",
	  "discovery.process \"a\" {\n\tjoin = discovery.process.b.targets\n\trefresh_interval = "
	  "\"0s\"\n}\n"
	  "discovery.process \"b\" {\n\tjoin = discovery.process.a.targets\n\tbanana = 1\n}\n"
	  "pyroscope.write \"w\" {\n\tendpoint { }\n}\n",
	  "a:3:2: refresh_interval must be greater than 0\n"
	  "a:7:2: unrecognized attribute name \"banana\"\n"
	  "a:10:2: missing required attribute \"url\"\n"
	  "-: cycle detected: discovery.process.a, discovery.process.b\n" },
	{ "what follows from a mistake is not another one",
	  "pyroscope.ebpf \"a\" {\n\tforward_to = [pyroscope.write.w.receiver]\n\tsample_rate = "
	  "0\n}\n"
	  "pyroscope.write \"w\" {\n\tendpoint { }\n}\n",
	  "a:3:2: sample_rate must be between 1 and 10000 (samples a second and CPU)\n"
	  "a:6:2: missing required attribute \"url\"\n" },
	{ "a logging cannot be referred to",
	  "logging { }\ndiscovery.process \"a\" {\n\tjoin = logging.level\n}\n",
	  "a:3:9: identifier \"logging\" does not exist\n" },
	{ "all at once",
	  "logging { level = \"loud\" }\n"
	  "pyroscope.ebpf \"a\" {\n\tforward_to = [pyroscope.write.nowhere.receiver]\n\tcomm = "
	  "\"x\"\n}\n"
	  "pyroscope.ebpf \"b\" {\n\tforward_to = [pyroscope.write.c.receiver]\n\tsample_rate = "
	  "0\n\tfoo = 1\n}\n"
	  "pyroscope.write \"c\" { }\n"
	  "discovery.proces \"d\" { }\n"
	  "discovery.process \"e\" {\n\trefresh_interval = \"0s\"\n}\n",
	  "a:1:19: \"loud\" unrecognized log level \"loud\"\n"
	  "a:3:16: component \"pyroscope.write.nowhere.receiver\" does not exist or is out of "
	  "scope\n"
	  "a:4:2: comm must be one of none, label, stackframe, both\n"
	  "a:8:2: sample_rate must be between 1 and 10000 (samples a second and CPU)\n"
	  "a:9:2: unrecognized attribute name \"foo\"\n"
	  "a:12:1: cannot find the definition of component name \"discovery.proces\"\n"
	  "a:14:2: refresh_interval must be greater than 0\n" },
	{ "syntax only, once it is wrong",
	  "pyroscope.write \"endpoint\" {\n\tendpoint { url = }\n}\n" EBPF
	  "pyroscope.nonsense { }\n",
	  "a:2:19: expected expression, got }\n" },
	{ "a deprecated function is none", "discovery.process \"a\" {\n\tjoin = env(\"HOME\")\n}\n",
	  "a:2:9: env(\"HOME\") should be array, got string\n" },
};

static void test_mistake(void **state)
{
	const struct row *row = *state;
	void *fixture;
	struct fixture *f;

	assert_int_equal(setup(&fixture), 0);
	f = fixture;
	int r = load(f, row->text);
	assert_string_equal(buf_str(&f->messages), row->expected);
	assert_int_equal(r, RIVER_INVALID);
	assert_int_equal(graph_n(f->graph), 0);
	/* Nothing is left of it. */
	assert_loads(f, WRITE);
	assert_int_equal(teardown(&fixture), 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_mistake, rows, name),
};

TEST_MAIN(tests)
