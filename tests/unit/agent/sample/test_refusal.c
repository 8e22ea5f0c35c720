/* SPDX-License-Identifier: Apache-2.0 */
/* From facts about the machine to the one line that a person reads. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/sample/refusal.h"
#include "tests/support/unit.h"

#define BIT(cap) (1ULL << (cap))
#define ENOUGH (BIT(CAP_BPF) | BIT(CAP_PERFMON))

#define GRANT                                                                         \
	": profiling the host needs it; run as root, or grant CAP_BPF, CAP_PERFMON, " \
	"CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_SYSLOG"
#define NO_BTF                                                                                   \
	"this kernel (5.10.0-test) has no BTF (/sys/kernel/btf/vmlinux is not readable): use a " \
	"kernel built with CONFIG_DEBUG_INFO_BTF=y; in a container, mount /sys"
#define LOCKDOWN                                                                                \
	"kernel lockdown is in confidentiality mode, which forbids BPF to read kernel memory: " \
	"boot with lockdown=integrity or none"

struct expected_row {
	const char *name;
	uint64_t capabilities;
	bool no_btf;
	bool lockdown;
	const char *text; /* NULL: nothing is in the way */
};

static const struct expected_row expected_rows[] = {
	{ "expected_nothing_missing", ENOUGH, false, false, NULL },
	{ "expected_admin_is_enough", BIT(CAP_SYS_ADMIN), false, false, NULL },
	{ "expected_no_capabilities", 0, false, false, "missing CAP_BPF and CAP_PERFMON" GRANT },
	{ "expected_other_capabilities", BIT(CAP_SYS_PTRACE) | BIT(CAP_SYSLOG), false, false,
	  "missing CAP_BPF and CAP_PERFMON" GRANT },
	{ "expected_no_bpf", BIT(CAP_PERFMON), false, false, "missing CAP_BPF" GRANT },
	{ "expected_no_perfmon", BIT(CAP_BPF), false, false, "missing CAP_PERFMON" GRANT },
	{ "expected_no_btf", ENOUGH, true, false, NO_BTF },
	{ "expected_lockdown", ENOUGH, false, true, LOCKDOWN },
	{ "expected_first_things_first", 0, true, true, "missing CAP_BPF and CAP_PERFMON" GRANT },
	{ "expected_btf_before_lockdown", ENOUGH, true, true, NO_BTF },
};

static struct refusal_facts make_facts(uint64_t capabilities, bool no_btf, bool lockdown)
{
	return (struct refusal_facts){
		.capabilities = capabilities,
		.have_btf = !no_btf,
		.lockdown_confidentiality = lockdown,
		.perf_event_paranoid = 3,
		.kernel_release = "5.10.0-test",
	};
}

static void test_expected(void **state)
{
	const struct expected_row *row = *state;
	struct refusal_facts f = make_facts(row->capabilities, row->no_btf, row->lockdown);
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	assert_int_equal(refusal_expected(&f, &out), row->text != NULL);
	assert_string_equal(buf_str(&out), row->text ? row->text : "");
}

struct lacks_row {
	const char *name;
	uint64_t capabilities;
	const char *text;
};

#define NO_PTRACE                                                                                  \
	"missing CAP_SYS_PTRACE: processes of other users cannot be looked into, their functions " \
	"stay unnamed"
#define NO_DAC                                                                                 \
	"missing CAP_DAC_READ_SEARCH: files that only their owners may read have no function " \
	"names"

static const struct lacks_row lacks_rows[] = {
	{ "lacks_nothing", ENOUGH | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH), "" },
	{ "lacks_ptrace", ENOUGH | BIT(CAP_DAC_READ_SEARCH), NO_PTRACE },
	{ "lacks_dac", ENOUGH | BIT(CAP_SYS_PTRACE), NO_DAC },
	/* An administrator may neither of both. */
	{ "lacks_both", BIT(CAP_SYS_ADMIN), NO_PTRACE "; " NO_DAC },
};

static void test_lacks(void **state)
{
	const struct lacks_row *row = *state;
	struct refusal_facts f = make_facts(row->capabilities, false, false);
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	assert_int_equal(refusal_shortcomings(&f, &out), *row->text != '\0');
	assert_string_equal(buf_str(&out), row->text);
}

struct explain_row {
	const char *name;
	int error;
	const char *contains;
	const char *lacks;
};

static const struct explain_row explain_rows[] = {
	{ "explain_eperm", -EPERM, "Operation not permitted; a seccomp profile", NULL },
	{ "explain_eacces", -EACCES, "kernel.perf_event_paranoid=3", "verifier" },
	{ "explain_einval", -EINVAL, "kernels from 5.17 on are supported", "seccomp" },
	{ "explain_e2big", -E2BIG, "verifier's words", NULL },
	{ "explain_enotsup", -ENOTSUP, "kernels from 5.17 on are supported", NULL },
	{ "explain_emfile", -EMFILE,
	  "Too many open files; raise the limit of open files (ulimit -n)", NULL },
	{ "explain_other", -EIO,
	  "the kernel (5.10.0-test) refused to attach the sampler: Input/output error", ";" },
	{ "explain_positive_errno", EIO, "Input/output error", NULL },
};

static void test_explain(void **state)
{
	const struct explain_row *row = *state;
	struct refusal_facts f = make_facts(ENOUGH, false, false);
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	refusal_explain(&f, "attach", row->error, &out);
	assert_non_null(strstr(buf_str(&out), row->contains));
	assert_non_null(
		strstr(buf_str(&out), "the kernel (5.10.0-test) refused to attach the sampler: "));
	if (row->lacks)
		assert_null(strstr(buf_str(&out), row->lacks));
	assert_null(strchr(buf_str(&out), '\n'));
}

/* In one line, and only where that is why. */
static void test_of_function(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	assert_false(refusal_of_function("off_cpu", "schedule", "sched_exit_tp", -EPERM, &out));
	assert_int_equal(out.len, 0);
	assert_true(refusal_of_function("off_cpu", "schedule", "sched_exit_tp", -524, &out));
	assert_string_equal(buf_str(&out),
			    "this kernel lets no BPF program be attached to its functions "
			    "(AArch64 does from 6.4 on, with "
			    "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS): off_cpu needs that for "
			    "schedule(), or the tracepoint sched_exit_tp");
}

/* What is known to be missing explains a failure better than its errno does. */
static void test_explain_names_what_is_missing(void **state)
{
	struct refusal_facts f = make_facts(ENOUGH, true, false);
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	refusal_explain(&f, "load", -ESRCH, &out);
	assert_string_equal(buf_str(&out), NO_BTF);
}

static void test_facts_of_this_machine(void **state)
{
	struct refusal_facts f;
	struct utsname u;

	(void)state;
	assert_int_equal(uname(&u), 0);
	refusal_facts_read(&f);
	assert_string_equal(f.kernel_release, u.release);
	assert_int_equal(f.have_btf, access("/sys/kernel/btf/vmlinux", R_OK) == 0);
	/* Nothing but user namespaces gives a process of uid 0 no capability at all. */
	if (geteuid() == 0)
		assert_true(f.capabilities != 0);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_expected, expected_rows, name),
	TEST_ROWS(test_lacks, lacks_rows, name),
	TEST_ROWS(test_explain, explain_rows, name),
	TEST(test_of_function),
	TEST(test_explain_names_what_is_missing),
	TEST(test_facts_of_this_machine),
};

TEST_MAIN(tests)
