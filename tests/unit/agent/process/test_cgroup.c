/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of cgroup path we know, and what must not be taken for one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "agent/process/cgroup.h"
#include "agent/util/macro.h"

#define HEX_16 "0123456789abcdef"
#define HEX_32 HEX_16 HEX_16
#define ID_A HEX_32 HEX_32
#define ID_B               \
	"fedcba9876543210" \
	"fedcba9876543210" \
	"fedcba9876543210" \
	"fedcba9876543210"
#define ID_UPPER           \
	"0123456789ABCDEF" \
	"0123456789ABCDEF" \
	"0123456789ABCDEF" \
	"0123456789ABCDEF"
#define ID_62 HEX_32 HEX_16 "0123456789abcd"
#define ID_ECS HEX_32 "-1234567890"
#define UID "3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b"
#define UID_UNDERSCORES "3f2a9c1e_5b7d_4e8f_9a0b_1c2d3e4f5a6b"

/* Facts not named are expected to be empty. */
struct row {
	const char *name;
	const char *text;
	const char *container_id, *runtime, *unit, *user_unit, *slice, *pod_uid;
	bool private_namespace;
};

static const struct row rows[] = {
	{ "empty", .text = "" },
	{ "docker v1", .text = "12:memory:/docker/" ID_A "\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "docker v1 all lines",
	  .text = "12:cpu,cpuacct:/docker/" ID_A "\n11:memory:/docker/" ID_A
		  "\n1:name=systemd:/docker/" ID_A "\n0::/system.slice/containerd.service\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "docker v2 scope", .text = "0::/system.slice/docker-" ID_A ".scope\n",
	  .container_id = ID_A, .runtime = "docker", .slice = "system.slice" },
	{ "docker scope init", .text = "0::/system.slice/docker-" ID_A ".scope/init\n",
	  .container_id = ID_A, .runtime = "docker", .slice = "system.slice" },
	{ "docker plain sub", .text = "0::/docker/" ID_A "/sub\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "docker plain init", .text = "4:memory:/docker/" ID_A "/init\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "docker deeper", .text = "0::/docker/" ID_A "/a/b.c/d-e/f\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "systemd inside docker", .text = "0::/docker/" ID_A "/system.slice/nginx.service\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "systemd inside docker scope",
	  .text = "0::/system.slice/docker-" ID_A ".scope/system.slice/nginx.service\n",
	  .container_id = ID_A, .runtime = "docker", .slice = "system.slice" },
	{ "docker cgroup parent", .text = "0::/custom.slice/docker-" ID_A ".scope\n",
	  .container_id = ID_A, .runtime = "docker", .slice = "custom.slice" },
	{ "docker rootless",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID_A
		  ".scope\n",
	  .container_id = ID_A, .runtime = "docker", .slice = "user-1000.slice" },
	{ "containerd scope",
	  .text = "0::/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod" UID_UNDERSCORES ".slice/cri-containerd-" ID_A ".scope\n",
	  .container_id = ID_A, .runtime = "containerd",
	  .slice = "kubepods-burstable-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "containerd colon",
	  .text = "11:cpuset:/kubepods-besteffort-pod" UID_UNDERSCORES ".slice:cri-containerd:" ID_A
		  "\n",
	  .container_id = ID_A, .runtime = "containerd", .pod_uid = UID },
	{ "containerd colon below its service",
	  .text = "1:name=systemd:/system.slice/containerd.service/"
		  "kubepods-burstable-pod" UID_UNDERSCORES ".slice:cri-containerd:" ID_A "\n",
	  .container_id = ID_A, .runtime = "containerd", .slice = "system.slice", .pod_uid = UID },
	{ "crio scope",
	  .text = "0::/kubepods.slice/kubepods-besteffort.slice/"
		  "kubepods-besteffort-pod" UID_UNDERSCORES ".slice/crio-" ID_A ".scope\n",
	  .container_id = ID_A, .runtime = "cri-o",
	  .slice = "kubepods-besteffort-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "crio scope container",
	  .text = "0::/kubepods.slice/kubepods-pod" UID_UNDERSCORES ".slice/crio-" ID_A
		  ".scope/container\n",
	  .container_id = ID_A, .runtime = "cri-o",
	  .slice = "kubepods-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "crio cgroupfs", .text = "3:cpu:/kubepods/besteffort/pod" UID "/crio-" ID_A "\n",
	  .container_id = ID_A, .runtime = "cri-o", .pod_uid = UID },
	{ "crio conmon", .text = "0::/system.slice/crio-conmon-" ID_A ".scope\n",
	  .slice = "system.slice" },
	{ "kubepods cgroupfs", .text = "10:memory:/kubepods/burstable/pod" UID "/" ID_A "\n",
	  .container_id = ID_A, .pod_uid = UID },
	{ "kubepods guaranteed", .text = "10:memory:/kubepods/pod" UID "/" ID_A "\n",
	  .container_id = ID_A, .pod_uid = UID },
	{ "kubepods docker scope",
	  .text = "0::/kubepods.slice/kubepods-pod" UID_UNDERSCORES ".slice/docker-" ID_A
		  ".scope\n",
	  .container_id = ID_A, .runtime = "docker",
	  .slice = "kubepods-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "pod without container", .text = "0::/kubepods/burstable/pod" UID "\n", .pod_uid = UID },
	{ "static pod", .text = "0::/kubepods/burstable/pod" HEX_32 "/" ID_A "\n",
	  .container_id = ID_A, .pod_uid = HEX_32 },
	{ "kubelet prefix",
	  .text = "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
		  "kubelet-kubepods-burstable-pod" UID_UNDERSCORES ".slice/cri-containerd-" ID_A
		  ".scope\n",
	  .container_id = ID_A, .runtime = "containerd",
	  .slice = "kubelet-kubepods-burstable-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "k3s below its service",
	  .text = "0::/system.slice/k3s.service/kubepods/burstable/pod" UID "/" ID_A "\n",
	  .container_id = ID_A, .slice = "system.slice", .pod_uid = UID },
	{ "k8s.io", .text = "0::/k8s.io/" ID_A "\n", .container_id = ID_A,
	  .runtime = "containerd" },
	{ "kind",
	  .text = "0::/docker/" ID_A
		  "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_UNDERSCORES
		  ".slice/cri-containerd-" ID_B ".scope\n",
	  .container_id = ID_B, .runtime = "containerd", .pod_uid = UID },
	{ "kind scope",
	  .text = "0::/system.slice/docker-" ID_A ".scope/kubelet/kubepods/besteffort/pod" UID
		  "/" ID_B "\n",
	  .container_id = ID_B, .slice = "system.slice", .pod_uid = UID },
	{ "docker in docker", .text = "5:pids:/docker/" ID_A "/docker/" ID_B "\n",
	  .container_id = ID_B, .runtime = "docker" },
	{ "containerd namespace", .text = "0::/default/" ID_A "\n", .container_id = ID_A },
	{ "nerdctl", .text = "0::/system.slice/nerdctl-" ID_A ".scope\n", .container_id = ID_A,
	  .runtime = "containerd", .slice = "system.slice" },
	{ "actions runner", .text = "8:blkio:/actions_job/" ID_A "\n", .container_id = ID_A },
	{ "podman root", .text = "0::/machine.slice/libpod-" ID_A ".scope\n", .container_id = ID_A,
	  .runtime = "podman", .slice = "machine.slice" },
	{ "podman container", .text = "0::/machine.slice/libpod-" ID_A ".scope/container\n",
	  .container_id = ID_A, .runtime = "podman", .slice = "machine.slice" },
	{ "podman rootless",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID_A
		  ".scope/container\n",
	  .container_id = ID_A, .runtime = "podman", .unit = "user@1000.service",
	  .slice = "user-1000.slice" },
	{ "podman payload in a service",
	  .text = "0::/system.slice/web.service/libpod-payload-" ID_A "\n", .container_id = ID_A,
	  .runtime = "podman", .unit = "web.service", .slice = "system.slice" },
	{ "podman user service",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/web.service/"
		  "libpod-payload-" ID_A "\n",
	  .container_id = ID_A, .runtime = "podman", .unit = "user@1000.service",
	  .user_unit = "web.service", .slice = "user-1000.slice" },
	{ "podman cgroupfs", .text = "6:memory:/libpod_parent/libpod-" ID_A "\n",
	  .container_id = ID_A, .runtime = "podman" },
	{ "podman conmon", .text = "0::/machine.slice/libpod-conmon-" ID_A ".scope\n",
	  .slice = "machine.slice" },
	{ "conmon in docker", .text = "0::/docker/" ID_A "/libpod_parent/libpod-conmon-" ID_B "\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "ecs fargate", .text = "1:name=systemd:/ecs/" HEX_32 "/" ID_ECS "\n",
	  .container_id = ID_ECS, .runtime = "ecs" },
	{ "ecs with cluster", .text = "1:name=systemd:/ecs/my-cluster/" HEX_32 "/" ID_ECS "\n",
	  .container_id = ID_ECS, .runtime = "ecs" },
	{ "ecs docker", .text = "9:memory:/ecs/my-cluster/" HEX_32 "/" ID_A "\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "ecs docker v2",
	  .text = "0::/ecstasks.slice/ecstasks-" HEX_32 ".slice/docker-" ID_A ".scope\n",
	  .container_id = ID_A, .runtime = "docker", .slice = "ecstasks-" HEX_32 ".slice" },
	{ "ecs too many digits",
	  .text = "1:cpu:/ecs/" HEX_32 "/" HEX_32 "-123456789012345678901\n" },
	{ "ecs no digits", .text = "1:cpu:/ecs/" HEX_32 "/" HEX_32 "-\n" },
	{ "ecs letters", .text = "1:cpu:/ecs/" HEX_32 "/" HEX_32 "-12ab\n" },
	{ "lxc v1", .text = "4:memory:/lxc/web1\n" },
	{ "lxc payload", .text = "0::/lxc.payload.web1/system.slice/nginx.service\n" },
	{ "lxc payload directory", .text = "0::/lxc.payload/web1/init.scope\n" },
	{ "lxc monitor", .text = "0::/lxc.monitor.web1\n" },
	{ "service", .text = "0::/system.slice/nginx.service\n", .unit = "nginx.service",
	  .slice = "system.slice" },
	{ "service with sub-cgroup", .text = "0::/system.slice/nginx.service/workers/3\n",
	  .unit = "nginx.service", .slice = "system.slice" },
	{ "service v1",
	  .text = "9:cpu:/\n4:memory:/system.slice/nginx.service\n1:name=systemd:/system.slice/"
		  "nginx.service\n",
	  .unit = "nginx.service", .slice = "system.slice" },
	{ "v1 prefers name=systemd",
	  .text = "4:memory:/system.slice/wrong.service\n1:name=systemd:/system.slice/"
		  "right.service\n",
	  .unit = "right.service", .slice = "system.slice" },
	{ "hybrid prefers name=systemd",
	  .text = "0::/system.slice/unified.service\n1:name=systemd:/system.slice/right.service\n",
	  .unit = "right.service", .slice = "system.slice" },
	{ "hybrid unified with a unit",
	  .text = "1:name=systemd:/\n0::/system.slice/unified.service\n", .unit = "unified.service",
	  .slice = "system.slice" },
	{ "hybrid container only in v1",
	  .text = "1:name=systemd:/system.slice/docker.service\n7:memory:/docker/" ID_A
		  "\n0::/system.slice/docker.service\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "nested slices", .text = "0::/a.slice/a-b.slice/a-b-c.slice/x.service\n",
	  .unit = "x.service", .slice = "a-b-c.slice" },
	{ "template unit", .text = "0::/system.slice/system-getty.slice/getty@tty1.service\n",
	  .unit = "getty@tty1.service", .slice = "system-getty.slice" },
	{ "escaped unit", .text = "0::/system.slice/dev-disk-by\\x2duuid-1\\x2d2.swap\n",
	  .unit = "dev-disk-by-uuid-1-2.swap", .slice = "system.slice" },
	{ "escaped slice",
	  .text = "0::/system.slice/system-systemd\\x2dfsck.slice/systemd-fsck@dev-sda1.service\n",
	  .unit = "systemd-fsck@dev-sda1.service", .slice = "system-systemd-fsck.slice" },
	{ "broken escape", .text = "0::/system.slice/a\\x2.service\n", .unit = "a\\x2.service",
	  .slice = "system.slice" },
	{ "cgroup name escape", .text = "0::/system.slice/_cpu.service\n", .unit = "cpu.service",
	  .slice = "system.slice" },
	{ "escape to garbage", .text = "0::/system.slice/a\\xff\\x00.service\n",
	  .unit = "a\xef\xbf\xbd?.service", .slice = "system.slice" },
	{ "session", .text = "0::/user.slice/user-1000.slice/session-3.scope\n",
	  .unit = "session-3.scope", .slice = "user-1000.slice" },
	{ "user service",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-foo.service\n",
	  .unit = "user@1000.service", .user_unit = "app-foo.service", .slice = "user-1000.slice" },
	{ "user scope",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "app-gnome-firefox-1234.scope\n",
	  .unit = "user@1000.service", .user_unit = "app-gnome-firefox-1234.scope",
	  .slice = "user-1000.slice" },
	{ "user manager itself",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/init.scope\n",
	  .unit = "user@1000.service", .user_unit = "init.scope", .slice = "user-1000.slice" },
	{ "init scope", .text = "0::/init.scope\n", .unit = "init.scope" },
	{ "machine scope",
	  .text = "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator\n",
	  .unit = "machine-qemu-1-vm.scope", .slice = "machine.slice" },
	{ "slice only", .text = "0::/user.slice\n", .slice = "user.slice" },
	{ "above the namespace", .text = "0::/../docker-" ID_A ".scope\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "above the namespace, unit", .text = "0::/../../system.slice/x.service\n",
	  .unit = "x.service", .slice = "system.slice" },
	{ "deleted cgroup", .text = "0::/system.slice/gone.service (deleted)\n",
	  .unit = "gone.service", .slice = "system.slice" },
	{ "deleted container", .text = "0::/docker/" ID_A " (deleted)\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "private namespace v2", .text = "0::/\n", .private_namespace = true },
	{ "private namespace v1", .text = "2:cpu:/\n1:name=systemd:/\n0::/\n",
	  .private_namespace = true },
	{ "65 digits", .text = "0::/docker/" ID_A "0\n" },
	{ "63 digits", .text = "0::/docker/0" ID_62 "\n" },
	{ "upper case", .text = "0::/docker/" ID_UPPER "\n" },
	{ "letters beside", .text = "0::/docker/x" ID_A "\n" },
	{ "64 digits in a service name", .text = "0::/system.slice/job-" ID_A ".service\n",
	  .container_id = ID_A, .slice = "system.slice" },
	{ "two ids in one component", .text = "0::/docker-" ID_A "-" ID_B ".scope\n",
	  .container_id = ID_B },
	{ "no newline at the end", .text = "0::/docker/" ID_A, .container_id = ID_A,
	  .runtime = "docker" },
	{ "malformed lines", .text = "\nx\n1\n1:\n1:cpu\n1:cpu:\n1:cpu:relative\n:cpu:/docker/" ID_A
				     "\n-1:cpu:/docker/" ID_A "\n99999999999:cpu:/docker/" ID_A
				     "\n" },
	{ "malformed among good", .text = "garbage\n0::/docker/" ID_A "\n0::\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "empty components", .text = "0:://docker///" ID_A "//\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "not a pod uid", .text = "0::/kubepods/pod" HEX_32 "0/x\n" },
	{ "pod in a word", .text = "0::/xpod" UID "/y\n" },
};

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct cgroup_facts f;

	cgroup_parse(str_from(row->text), &f);
	assert_string_equal(f.container_id, or_empty(row->container_id));
	assert_string_equal(f.runtime, or_empty(row->runtime));
	assert_string_equal(f.unit, or_empty(row->unit));
	assert_string_equal(f.user_unit, or_empty(row->user_unit));
	assert_string_equal(f.slice, or_empty(row->slice));
	assert_string_equal(f.pod_uid, or_empty(row->pod_uid));
	assert_int_equal(f.private_namespace, row->private_namespace);
}

static void test_names_are_bounded(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(8192);
	struct cgroup_facts f;

	(void)state;
	(void)buf_append_str(&b, "0::/system.slice/");
	for (int i = 0; i < 1000; i++)
		(void)buf_append_char(&b, 'u');
	(void)buf_append_str(&b, ".service\n");
	cgroup_parse((struct str){ buf_str(&b), b.len }, &f);
	assert_int_equal(strlen(f.unit), CGROUP_NAME_MAX - 1);
}

static void assert_path(const char *text, const char *expected)
{
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	cgroup_path(str_from(text), &b);
	assert_string_equal(buf_str(&b), expected);
}

static void test_path(void **state)
{
	(void)state;
	assert_path("0::/system.slice/x.service\n", "/system.slice/x.service");
	assert_path("2:cpu:/a\nbad\n1:name=systemd:/b\n0::/\n", "/a|/b|/");
	assert_path("", "");
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_SIZE(rows) + 2];
	size_t n = 0;

	for (; n < ARRAY_SIZE(rows); n++)
		tests[n] =
			(struct CMUnitTest){ rows[n].name, test_row, NULL, NULL, (void *)&rows[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_names_are_bounded);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_path);
	return cmocka_run_group_tests_name("agent/process/cgroup", tests, NULL, NULL);
}
