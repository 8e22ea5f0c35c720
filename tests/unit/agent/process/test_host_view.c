/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of places that agents are started in, and what each is told. */
#include <string.h>

#include "agent/process/host_view.h"
#include "tests/support/unit.h"

#define OWN_PID_NAMESPACE 4026532301U
#define OWN_CGROUP_NAMESPACE 4026532305U

struct row {
	const char *name;
	struct host_facts facts;
	enum host_place place;
	const char *found;	   /* names of the findings, each followed by a blank */
	enum host_finding finding; /* whose words are looked at */
	const char *fix;	   /* a part of it */
};

/* What a plain host has; each row names what differs. */
#define HOST(...)                                                                         \
	{                                                                                 \
		.pid_namespace = HOST_INITIAL_PID_NAMESPACE,                              \
		.cgroup_namespace = HOST_INITIAL_CGROUP_NAMESPACE, .own_pid = 4711,       \
		.proc_pid = 4711, .pid_levels = 1, .cgroup2 = HOST_CGROUP2_HOST,          \
		.init_comm = "systemd", .kernel_release = "6.8.0-45-generic", __VA_ARGS__ \
	}
#define IN_CONTAINER                                                                  \
	.pid_namespace = OWN_PID_NAMESPACE, .cgroup_namespace = OWN_CGROUP_NAMESPACE, \
	.own_pid = 1, .proc_pid = 1, .cgroup2 = HOST_CGROUP2_PART, .init_comm = "xagent"

#define NO_WORDS HOST_FINDING_MAX, NULL

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif
static const struct row rows[] = {
	{ "plain host", HOST(), HOST_PLACE_MACHINE, "", NO_WORDS },
	{ "nothing readable",
	  { .own_pid = 1, .proc_pid = 1, .pid_levels = 1, .cgroup2 = HOST_CGROUP2_HOST },
	  HOST_PLACE_MACHINE,
	  "",
	  NO_WORDS },
	{ "docker", HOST(IN_CONTAINER, .dockerenv = true), HOST_PLACE_DOCKER,
	  "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE,
	  "`docker run --pid=host`, in a Compose file `pid: host`" },
	{ "docker, cgroup", HOST(IN_CONTAINER, .dockerenv = true), HOST_PLACE_DOCKER,
	  "pid_namespace cgroup_namespace ", HOST_CGROUP_NAMESPACE,
	  "`docker run --cgroupns=host`, in a Compose file `cgroup: host`" },
	{ "docker with --pid=host",
	  HOST(IN_CONTAINER, .dockerenv = true, .pid_namespace = HOST_INITIAL_PID_NAMESPACE,
	       .init_elsewhere = true, .init_comm = "systemd"),
	  HOST_PLACE_DOCKER, "cgroup_namespace ", NO_WORDS },
	{ "docker with all", HOST(.dockerenv = true, .init_elsewhere = true), HOST_PLACE_DOCKER, "",
	  NO_WORDS },
	{ "a virtual machine that left /.dockerenv behind", HOST(.dockerenv = true),
	  HOST_PLACE_DOCKER, "", NO_WORDS },
	{ "container by its control group", HOST(IN_CONTAINER, .own_container = true),
	  HOST_PLACE_DOCKER, "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE, "--pid=host" },
	{ "docker without cgroup2",
	  HOST(.dockerenv = true, .init_elsewhere = true, .cgroup2 = HOST_CGROUP2_NONE),
	  HOST_PLACE_DOCKER, "no_cgroup ", HOST_NO_CGROUP,
	  "`docker run -v /sys/fs/cgroup:/sys/fs/cgroup:ro`" },
	{ "a part of cgroup2 mounted by hand",
	  HOST(.dockerenv = true, .cgroup2 = HOST_CGROUP2_PART), HOST_PLACE_DOCKER, "no_cgroup ",
	  NO_WORDS },
	{ "cgroup namespace of the hierarchy's root",
	  HOST(.cgroup_namespace = OWN_CGROUP_NAMESPACE), HOST_PLACE_MACHINE, "", NO_WORDS },
	{ "podman", HOST(IN_CONTAINER, .containerenv = true), HOST_PLACE_PODMAN,
	  "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE, "`podman run --pid=host`" },
	{ "podman without root", HOST(IN_CONTAINER, .containerenv = true, .part_of_uids = true),
	  HOST_PLACE_PODMAN, "user_namespace pid_namespace cgroup_namespace ", HOST_USER_NAMESPACE,
	  "run podman as root" },
	{ "pod without hostPID", HOST(IN_CONTAINER, .kubernetes = true), HOST_PLACE_KUBERNETES,
	  "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE,
	  "write `hostPID: true` into the pod's spec" },
	{ "pod that shares its processes",
	  HOST(IN_CONTAINER, .kubernetes = true, .init_elsewhere = true, .init_comm = "pause"),
	  HOST_PLACE_KUBERNETES, "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE,
	  "hostPID: true" },
	{ "pod with the host's cgroup",
	  HOST(IN_CONTAINER, .kubernetes = true, .cgroup2 = HOST_CGROUP2_HOST),
	  HOST_PLACE_KUBERNETES, "pid_namespace ", NO_WORDS },
	{ "pod, cgroup", HOST(IN_CONTAINER, .kubernetes = true), HOST_PLACE_KUBERNETES,
	  "pid_namespace cgroup_namespace ", HOST_CGROUP_NAMESPACE,
	  "mount a `hostPath` volume of /sys/fs/cgroup" },
	{ "pod with users of its own", HOST(.kubernetes = true, .part_of_uids = true),
	  HOST_PLACE_KUBERNETES, "user_namespace ", HOST_USER_NAMESPACE, "`hostUsers: true`" },
	{ "pod with hostPID on a node of kind",
	  HOST(IN_CONTAINER, .kubernetes = true, .init_elsewhere = true, .kind = true,
	       .init_comm = "systemd", .cgroup2 = HOST_CGROUP2_HOST),
	  HOST_PLACE_NESTED_NODE, "pid_namespace ", HOST_PID_NAMESPACE, "(kind, minikube" },
	{ "pod with hostPID on a node of k3d",
	  HOST(IN_CONTAINER, .kubernetes = true, .init_elsewhere = true, .init_comm = "k3s"),
	  HOST_PLACE_NESTED_NODE, "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE,
	  "this node is a container itself" },
	{ "on the node of kind itself",
	  HOST(IN_CONTAINER, .dockerenv = true, .own_pid = 300, .proc_pid = 300,
	       .init_comm = "systemd"),
	  HOST_PLACE_NESTED_NODE, "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE,
	  "run xagent on the machine below it" },
	{ "LXC container", HOST(IN_CONTAINER, .init_comm = "init"), HOST_PLACE_NESTED_NODE,
	  "pid_namespace cgroup_namespace ", HOST_PID_NAMESPACE, "LXC" },
	{ "container with an init of its own",
	  HOST(IN_CONTAINER, .dockerenv = true, .init_comm = "init"), HOST_PLACE_DOCKER,
	  "pid_namespace cgroup_namespace ", NO_WORDS },
	{ "in the pids of another container",
	  HOST(IN_CONTAINER, .dockerenv = true, .init_elsewhere = true, .init_comm = "nginx"),
	  HOST_PLACE_DOCKER, "pid_namespace cgroup_namespace ", NO_WORDS },
	{ "node of Alpine's",
	  HOST(IN_CONTAINER, .dockerenv = true, .init_elsewhere = true, .init_comm = "init"),
	  HOST_PLACE_NESTED_NODE, "pid_namespace cgroup_namespace ", NO_WORDS },
	{ "unshare", HOST(.pid_namespace = OWN_PID_NAMESPACE, .init_comm = "sh"),
	  HOST_PLACE_MACHINE, "pid_namespace ", HOST_PID_NAMESPACE, "PrivatePIDs=no" },
	{ "unshare without --mount-proc",
	  HOST(.pid_namespace = OWN_PID_NAMESPACE, .own_pid = 1, .pid_levels = 2,
	       .init_comm = "sh"),
	  HOST_PLACE_MACHINE, "foreign_proc pid_namespace ", HOST_FOREIGN_PROC, "--mount-proc" },
	{ "another namespace's /proc, equal number",
	  HOST(.pid_namespace = OWN_PID_NAMESPACE, .pid_levels = 2, .init_comm = "sh"),
	  HOST_PLACE_MACHINE, "foreign_proc pid_namespace ", NO_WORDS },
	{ "a child namespace's /proc", HOST(.proc_pid = 0), HOST_PLACE_MACHINE, "foreign_proc ",
	  NO_WORDS },
	{ "hidepid", HOST(.hidepid = true, .init_hidden = true), HOST_PLACE_MACHINE, "hidepid ",
	  HOST_HIDEPID, "grant CAP_SYS_PTRACE, or `mount -o remount,hidepid=0 /proc`" },
	{ "hidepid that does not hide from us", HOST(.hidepid = true), HOST_PLACE_MACHINE, "",
	  NO_WORDS },
	{ "pid 1 hidden by something else", HOST(.init_hidden = true), HOST_PLACE_MACHINE, "",
	  NO_WORDS },
	{ "cgroup namespace",
	  HOST(.cgroup_namespace = OWN_CGROUP_NAMESPACE, .cgroup2 = HOST_CGROUP2_PART),
	  HOST_PLACE_MACHINE, "cgroup_namespace ", HOST_CGROUP_NAMESPACE,
	  "outside of this cgroup namespace" },
	{ "WSL2",
	  HOST(.pid_namespace = OWN_PID_NAMESPACE,
	       .kernel_release = "5.15.167.4-microsoft-standard-WSL2"),
	  HOST_PLACE_WSL2, "pid_namespace wsl2 ", HOST_PID_NAMESPACE, "in each distribution" },
	{ "WSL2 with a kernel of one's own", HOST(.wsl_interop = true), HOST_PLACE_WSL2, "wsl2 ",
	  NO_WORDS },
	{ "container in WSL2",
	  HOST(IN_CONTAINER, .dockerenv = true, .kernel_release = "5.15.0-Microsoft"),
	  HOST_PLACE_DOCKER, "pid_namespace cgroup_namespace wsl2 ", HOST_PID_NAMESPACE,
	  "--pid=host" },
	{ "Docker Desktop",
	  HOST(IN_CONTAINER, .dockerenv = true, .kernel_release = "6.10.14-linuxkit"),
	  HOST_PLACE_DOCKER, "pid_namespace cgroup_namespace docker_desktop ", HOST_DOCKER_DESKTOP,
	  "--pid=host --cgroupns=host" },
	{ "OrbStack", HOST(.dockerenv = true, .kernel_release = "6.11.3-orbstack-00279-g1234"),
	  HOST_PLACE_DOCKER, "orbstack ", HOST_ORBSTACK, "all containers" },
	{ "gVisor", HOST(.kubernetes = true, .gvisor = true, .kernel_release = "4.4.0"),
	  HOST_PLACE_KUBERNETES, "gvisor ", HOST_GVISOR, "runtimeClassName" },
};
#pragma GCC diagnostic pop

static void test_row(void **state)
{
	const struct row *row = *state;
	char found[256] = "";
	struct host_view v;

	host_view_judge(&row->facts, &v);
	for (int i = 0; i < HOST_FINDING_MAX; i++) {
		if (!v.found[i])
			continue;
		strncat(found, host_finding_name((enum host_finding)i),
			sizeof(found) - strlen(found) - 2);
		strncat(found, " ", 2);
	}
	assert_string_equal(found, row->found);
	assert_string_equal(host_place_name(v.place), host_place_name(row->place));
	if (row->fix)
		assert_non_null(strstr(host_view_fix(&v, row->finding), row->fix));
}

static void test_worst_is_what_hides_most(void **state)
{
	struct host_facts f = HOST();
	struct host_view v;

	(void)state;
	host_view_judge(&f, &v);
	assert_int_equal(host_view_worst(&v), HOST_FINDING_MAX);
	f.wsl_interop = true;
	host_view_judge(&f, &v);
	assert_true(v.found[HOST_WSL2]);
	assert_int_equal(host_view_worst(&v), HOST_FINDING_MAX);
	f.cgroup2 = HOST_CGROUP2_NONE;
	f.pid_namespace = OWN_PID_NAMESPACE;
	host_view_judge(&f, &v);
	assert_int_equal(host_view_worst(&v), HOST_PID_NAMESPACE);
}

/* Every finding has words, everywhere, and they are one line that fits where it is shown. */
static void test_words(void **state)
{
	(void)state;
	for (int place = 0; place < HOST_PLACE_MAX; place++)
		for (int i = 0; i < HOST_FINDING_MAX; i++) {
			const struct host_view v = { .place = (enum host_place)place };
			const char *missing = host_view_missing((enum host_finding)i);
			const char *fix = host_view_fix(&v, (enum host_finding)i);

			assert_non_null(missing);
			assert_non_null(fix);
			assert_true(*missing && *fix);
			assert_null(strpbrk(missing, "\n\""));
			assert_null(strpbrk(fix, "\n\""));
			assert_in_range(strlen(missing) + strlen(fix), 20, 350);
		}
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_worst_is_what_hides_most),
	TEST(test_words),
};

TEST_MAIN(tests)
