/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of cgroup path we know, and what must not be taken for one. */
#include <stdlib.h>

#include "agent/process/cgroup.h"
#include "tests/support/unit.h"

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
#define ID_BUILD "k3ci1m7y0lq5u3ew6nvj2x8hd"
#define UID "3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b"
#define UID_UNDERSCORES "3f2a9c1e_5b7d_4e8f_9a0b_1c2d3e4f5a6b"

/* Facts not named are expected to be empty. */
struct row {
	const char *name;
	const char *text;
	const char *container_id, *runtime, *unit, *user_unit, *slice, *pod_uid;
	const char *machine, *alloc_id, *task;
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
	{ "nerdctl cgroupfs", .text = "4:memory:/default/" ID_A "/init\n", .container_id = ID_A },
	{ "nerdctl rootless",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/user.slice/nerdctl-" ID_A
		  ".scope\n",
	  .container_id = ID_A, .runtime = "containerd", .slice = "user-1000.slice" },
	{ "nerdctl colon", .text = "0::/system.slice:nerdctl:" ID_A "\n", .container_id = ID_A,
	  .runtime = "containerd" },
	{ "docker colon", .text = "0::/system.slice:docker:" ID_A "\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "crio colon",
	  .text = "0::/kubepods-burstable-pod" UID_UNDERSCORES ".slice:crio:" ID_A "\n",
	  .container_id = ID_A, .runtime = "cri-o", .pod_uid = UID },
	{ "kata", .text = "0::/kata_overhead/" ID_A "\n", .container_id = ID_A },
	{ "kata in a pod", .text = "0::/kubepods/besteffort/pod" UID "/kata_" ID_A "\n",
	  .container_id = ID_A, .pod_uid = UID },
	{ "openshift",
	  .text = "0::/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod" UID_UNDERSCORES ".slice/crio-" ID_A
		  ".scope/container/worker\n",
	  .container_id = ID_A, .runtime = "cri-o",
	  .slice = "kubepods-burstable-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "systemd in a pod",
	  .text = "0::/kubepods.slice/kubepods-pod" UID_UNDERSCORES ".slice/crio-" ID_A
		  ".scope/system.slice/sshd.service\n",
	  .container_id = ID_A, .runtime = "cri-o",
	  .slice = "kubepods-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "crio conmon in its pod",
	  .text = "0::/kubepods.slice/kubepods-pod" UID_UNDERSCORES ".slice/crio-conmon-" ID_A
		  ".scope\n",
	  .slice = "kubepods-pod" UID_UNDERSCORES ".slice", .pod_uid = UID },
	{ "kind in podman",
	  .text = "0::/machine.slice/libpod-" ID_A
		  ".scope/container/kubelet.slice/kubelet-kubepods.slice/"
		  "kubelet-kubepods-pod" UID_UNDERSCORES ".slice/cri-containerd-" ID_B ".scope\n",
	  .container_id = ID_B, .runtime = "containerd", .slice = "machine.slice", .pod_uid = UID },
	{ "kind's kubelet", .text = "0::/docker/" ID_A "/kubelet.slice/kubelet.service\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "buildkit", .text = "0::/buildkit/" ID_BUILD "\n", .runtime = "buildkit" },
	{ "buildkit of docker", .text = "4:memory:/docker/buildkit/" ID_BUILD "\n",
	  .runtime = "buildkit" },
	{ "buildkit by docker's systemd driver",
	  .text = "0::/system.slice/docker-" ID_BUILD ".scope\n", .runtime = "buildkit",
	  .slice = "system.slice" },
	{ "buildkit in a container", .text = "0::/docker/" ID_A "/buildkit/" ID_BUILD "\n",
	  .container_id = ID_A, .runtime = "docker" },
	{ "buildkit's own", .text = "0::/system.slice/buildkit.service\n",
	  .unit = "buildkit.service", .slice = "system.slice" },
	{ "a word for a build", .text = "0::/docker/" ID_BUILD "x\n" },
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
	{ "podman pod",
	  .text = "0::/machine.slice/machine-libpod_pod_" ID_B ".slice/libpod-" ID_A
		  ".scope/container\n",
	  .container_id = ID_A, .runtime = "podman", .slice = "machine-libpod_pod_" ID_B ".slice" },
	{ "podman pod conmon",
	  .text = "0::/machine.slice/machine-libpod_pod_" ID_B ".slice/libpod-conmon-" ID_A
		  ".scope\n",
	  .slice = "machine-libpod_pod_" ID_B ".slice" },
	{ "podman pod cgroupfs",
	  .text = "6:memory:/libpod_parent/libpod_pod_" ID_B "/libpod-" ID_A "\n",
	  .container_id = ID_A, .runtime = "podman" },
	{ "podman pod alone", .text = "6:memory:/libpod_parent/libpod_pod_" ID_B "\n" },
	{ "podman plain", .text = "6:memory:/libpod_parent/" ID_A "\n", .container_id = ID_A,
	  .runtime = "podman" },
	{ "podman rootless pod",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/user.slice/"
		  "user-libpod_pod_" ID_B ".slice/libpod-" ID_A ".scope/container\n",
	  .container_id = ID_A, .runtime = "podman", .unit = "user@1000.service",
	  .slice = "user-1000.slice" },
	{ "podman quadlet",
	  .text = "0::/system.slice/web.service/libpod-payload-" ID_A "/init.scope\n",
	  .container_id = ID_A, .runtime = "podman", .unit = "web.service",
	  .slice = "system.slice" },
	{ "podman quadlet conmon", .text = "0::/system.slice/web.service/runtime\n",
	  .unit = "web.service", .slice = "system.slice" },
	{ "podman in docker", .text = "0::/docker/" ID_A "/libpod_parent/libpod-" ID_B "\n",
	  .container_id = ID_B, .runtime = "podman" },
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
	{ "lxc v1", .text = "4:memory:/lxc/web1\n", .machine = "web1", .runtime = "lxc" },
	{ "lxc v1 with units",
	  .text = "4:memory:/lxc/web1/system.slice/nginx.service\n"
		  "1:name=systemd:/lxc/web1/system.slice/nginx.service\n",
	  .machine = "web1", .runtime = "lxc", .unit = "nginx.service", .slice = "system.slice" },
	{ "lxc payload", .text = "0::/lxc.payload.web1/system.slice/nginx.service\n",
	  .machine = "web1", .runtime = "lxc", .unit = "nginx.service", .slice = "system.slice" },
	{ "lxc payload without systemd", .text = "0::/lxc.payload.alpine\n", .machine = "alpine",
	  .runtime = "lxc" },
	{ "lxc payload directory", .text = "0::/lxc.payload/web1/init.scope\n", .machine = "web1",
	  .runtime = "lxc", .unit = "init.scope" },
	{ "lxc dots in its name", .text = "0::/lxc.payload.web.1\n", .machine = "web.1",
	  .runtime = "lxc" },
	{ "lxc by a user",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u7.service/"
		  "lxc.payload.web1/init.scope\n",
	  .machine = "web1", .runtime = "lxc", .unit = "init.scope", .slice = "user-1000.slice" },
	{ "lxc in lxc", .text = "0::/lxc.payload.outer/lxc.payload.inner/system.slice/a.service\n",
	  .machine = "inner", .runtime = "lxc", .unit = "a.service", .slice = "system.slice" },
	{ "a unit below lxc", .text = "0::/lxc/x.service\n" },
	{ "lxc in docker", .text = "0::/docker/" ID_A "/lxc/web1\n", .container_id = ID_A,
	  .runtime = "docker", .machine = "web1" },
	{ "lxd project", .text = "0::/lxc.payload.shop_web1/user.slice/user-0.slice\n",
	  .machine = "shop_web1", .runtime = "lxc", .slice = "user-0.slice" },
	{ "lxd snap's own", .text = "0::/system.slice/snap.lxd.daemon.service\n",
	  .unit = "snap.lxd.daemon.service", .slice = "system.slice" },
	{ "lxc monitor", .text = "0::/lxc.monitor.web1\n" },
	{ "lxc monitor directory", .text = "0::/lxc.monitor/web1\n" },
	{ "lxc pivot", .text = "0::/lxc.pivot\n" },
	{ "proxmox container", .text = "0::/lxc/101/ns/system.slice/nginx.service\n",
	  .machine = "101", .runtime = "lxc", .unit = "nginx.service", .slice = "system.slice" },
	{ "proxmox container init", .text = "0::/lxc/101/ns/init.scope\n", .machine = "101",
	  .runtime = "lxc", .unit = "init.scope" },
	{ "proxmox guest", .text = "0::/qemu.slice/100.scope\n", .machine = "100",
	  .runtime = "qemu", .slice = "qemu.slice" },
	{ "docker in lxc", .text = "0::/lxc.payload.web1/system.slice/docker-" ID_A ".scope\n",
	  .container_id = ID_A, .runtime = "docker", .machine = "web1", .slice = "system.slice" },
	{ "docker in proxmox", .text = "0::/lxc/101/ns/docker/" ID_A "\n", .container_id = ID_A,
	  .runtime = "docker", .machine = "101" },
	{ "docker's daemon in lxc", .text = "0::/lxc.payload.web1/system.slice/docker.service\n",
	  .machine = "web1", .runtime = "lxc", .unit = "docker.service", .slice = "system.slice" },
	{ "nspawn scope",
	  .text = "0::/machine.slice/machine-web1.scope/payload/system.slice/nginx.service\n",
	  .machine = "web1", .runtime = "nspawn", .unit = "nginx.service",
	  .slice = "system.slice" },
	{ "nspawn scope, before payload",
	  .text = "1:name=systemd:/machine.slice/machine-web1.scope/system.slice/nginx.service\n",
	  .machine = "web1", .runtime = "nspawn", .unit = "nginx.service",
	  .slice = "system.slice" },
	{ "nspawn scope init", .text = "0::/machine.slice/machine-web1.scope/payload/init.scope\n",
	  .machine = "web1", .runtime = "nspawn", .unit = "init.scope", .slice = "machine.slice" },
	{ "nspawn scope alone", .text = "0::/machine.slice/machine-web1.scope\n", .machine = "web1",
	  .runtime = "nspawn", .slice = "machine.slice" },
	{ "nspawn escaped",
	  .text = "0::/machine.slice/machine-fedora\\x2d40.scope/payload/init.scope\n",
	  .machine = "fedora-40", .runtime = "nspawn", .unit = "init.scope",
	  .slice = "machine.slice" },
	{ "nspawn supervisor", .text = "0::/machine.slice/machine-web1.scope/supervisor\n",
	  .slice = "machine.slice" },
	{ "nspawn service",
	  .text = "0::/machine.slice/systemd-nspawn@web1.service/payload/system.slice/"
		  "postgresql@16-main.service\n",
	  .machine = "web1", .runtime = "nspawn", .unit = "postgresql@16-main.service",
	  .slice = "system.slice" },
	{ "nspawn service, before payload",
	  .text = "0::/machine.slice/systemd-nspawn@web1.service/system.slice/cron.service\n",
	  .machine = "web1", .runtime = "nspawn", .unit = "cron.service", .slice = "system.slice" },
	{ "nspawn service without systemd",
	  .text = "0::/machine.slice/systemd-nspawn@web1.service/payload\n", .machine = "web1",
	  .runtime = "nspawn", .slice = "machine.slice" },
	{ "nspawn service supervisor",
	  .text = "0::/machine.slice/systemd-nspawn@web1.service/supervisor\n",
	  .unit = "systemd-nspawn@web1.service", .slice = "machine.slice" },
	{ "podman in nspawn",
	  .text = "0::/machine.slice/machine-web1.scope/payload/machine.slice/libpod-" ID_A
		  ".scope/container\n",
	  .container_id = ID_A, .runtime = "podman", .machine = "web1", .slice = "machine.slice" },
	{ "libvirt guest",
	  .text = "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator\n",
	  .machine = "vm", .runtime = "qemu", .slice = "machine.slice" },
	{ "libvirt guest with dashes",
	  .text = "0::/machine.slice/machine-qemu\\x2d12\\x2dweb\\x2d1.scope/libvirt/vcpu0\n",
	  .machine = "web-1", .runtime = "qemu", .slice = "machine.slice" },
	{ "libvirt lxc",
	  .text = "0::/machine.slice/machine-lxc\\x2d4711\\x2dbox.scope/system.slice/x.service\n",
	  .machine = "box", .runtime = "lxc", .unit = "x.service", .slice = "system.slice" },
	{ "libvirt without systemd", .text = "5:cpu:/machine/qemu-3-vm1.libvirt-qemu/vcpu0\n",
	  .machine = "vm1", .runtime = "qemu" },
	{ "libvirt long ago", .text = "5:cpu:/machine/vm1.libvirt-qemu/emulator\n",
	  .machine = "vm1", .runtime = "qemu" },
	{ "libvirt lxc without systemd", .text = "5:cpu:/machine/lxc-9-box.libvirt-lxc\n",
	  .machine = "box", .runtime = "lxc" },
	{ "a machine called qemu", .text = "0::/machine.slice/machine-qemu.scope\n",
	  .machine = "qemu", .runtime = "nspawn", .slice = "machine.slice" },
	{ "nomad", .text = "0::/nomad.slice/share.slice/" UID ".web.scope\n", .alloc_id = UID,
	  .task = "web", .runtime = "nomad", .slice = "share.slice" },
	{ "nomad reserve", .text = "0::/nomad.slice/reserve.slice/" UID ".my-task.v2.scope\n",
	  .alloc_id = UID, .task = "my-task.v2", .runtime = "nomad", .slice = "reserve.slice" },
	{ "nomad before 1.7", .text = "0::/nomad.slice/" UID ".web.scope/sub\n", .alloc_id = UID,
	  .task = "web", .runtime = "nomad", .slice = "nomad.slice" },
	{ "nomad v1", .text = "4:memory:/nomad/share/" UID ".web\n", .alloc_id = UID, .task = "web",
	  .runtime = "nomad" },
	{ "nomad v1 reserved", .text = "3:cpuset:/nomad/reserved/" UID "-web\n", .alloc_id = UID,
	  .task = "web", .runtime = "nomad" },
	{ "nomad v1, id only", .text = "4:memory:/nomad/" UID "\n", .alloc_id = UID,
	  .runtime = "nomad" },
	{ "nomad's own", .text = "0::/system.slice/nomad.service\n", .unit = "nomad.service",
	  .slice = "system.slice" },
	{ "nomad docker", .text = "0::/nomad.slice/share.slice/docker-" ID_A ".scope\n",
	  .container_id = ID_A, .runtime = "docker", .slice = "share.slice" },
	{ "a scope called by a uuid", .text = "0::/system.slice/" UID ".scope\n",
	  .unit = UID ".scope", .slice = "system.slice" },
	{ "a scope that ends in a uuid", .text = "0::/system.slice/web-" UID ".scope\n",
	  .unit = "web-" UID ".scope", .slice = "system.slice" },
	{ "a uuid elsewhere", .text = "0::/garden/" UID "\n" },
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
	{ "snap application",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "snap.firefox.firefox-" UID ".scope\n",
	  .unit = "user@1000.service", .user_unit = "snap.firefox.firefox-" UID ".scope",
	  .slice = "user-1000.slice" },
	{ "snap service", .text = "0::/system.slice/snap.prometheus.prometheus.service\n",
	  .unit = "snap.prometheus.prometheus.service", .slice = "system.slice" },
	{ "flatpak",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "app-flatpak-org.mozilla.firefox-1234.scope\n",
	  .unit = "user@1000.service", .user_unit = "app-flatpak-org.mozilla.firefox-1234.scope",
	  .slice = "user-1000.slice" },
	{ "user slices nest",
	  .text = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
		  "app-org.gnome.Terminal.slice/vte-spawn-" UID ".scope\n",
	  .unit = "user@1000.service", .user_unit = "vte-spawn-" UID ".scope",
	  .slice = "user-1000.slice" },
	{ "delegated to an init", .text = "0::/system.slice/web.service/init.scope\n",
	  .unit = "web.service", .slice = "system.slice" },
	{ "dbus by escape",
	  .text = "0::/system.slice/system-dbus\\x2d:1.2\\x2dorg.x.slice/"
		  "dbus-:1.2-org.x@0.service\n",
	  .unit = "dbus-:1.2-org.x@0.service", .slice = "system-dbus-:1.2-org.x.slice" },
	{ "socket", .text = "0::/system.slice/docker.socket\n", .unit = "docker.socket",
	  .slice = "system.slice" },
	{ "mount", .text = "0::/system.slice/var-lib-docker.mount\n",
	  .unit = "var-lib-docker.mount", .slice = "system.slice" },
	{ "init scope", .text = "0::/init.scope\n", .unit = "init.scope" },
	{ "slice only", .text = "0::/user.slice\n", .slice = "user.slice" },
	{ "above the namespace", .text = "0::/../docker-" ID_A ".scope\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "above the namespace, unit", .text = "0::/../../system.slice/x.service\n",
	  .unit = "x.service", .slice = "system.slice" },
	{ "deleted cgroup", .text = "0::/system.slice/gone.service (deleted)\n",
	  .unit = "gone.service", .slice = "system.slice" },
	{ "deleted container", .text = "0::/docker/" ID_A " (deleted)\n", .container_id = ID_A,
	  .runtime = "docker" },
	{ "above the namespace, machine", .text = "0::/../lxc.payload.web1/init.scope\n",
	  .machine = "web1", .runtime = "lxc", .unit = "init.scope" },
	{ "docker in a machine's v1 lines",
	  .text = "4:memory:/lxc/web1/docker/" ID_A "\n1:name=systemd:/lxc/web1/system.slice/"
		  "docker.service\n",
	  .container_id = ID_A, .runtime = "docker", .machine = "web1" },
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
	assert_string_equal(f.machine, or_empty(row->machine));
	assert_string_equal(f.alloc_id, or_empty(row->alloc_id));
	assert_string_equal(f.task, or_empty(row->task));
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

static void parse_name(const char *before, const char *after, struct cgroup_facts *ret_facts)
{
	_cleanup_buf_ struct buf b = BUF_INIT(8192);

	(void)buf_append_str(&b, before);
	for (int i = 0; i < 1000; i++)
		(void)buf_append_char(&b, 'm');
	(void)buf_append_str(&b, after);
	cgroup_parse((struct str){ buf_str(&b), b.len }, ret_facts);
}

static void test_names_of_machines_and_tasks_are_bounded(void **state)
{
	struct cgroup_facts f;

	(void)state;
	parse_name("0::/lxc.payload.", "\n", &f);
	assert_int_equal(strlen(f.machine), CGROUP_MACHINE_MAX - 1);
	parse_name("0::/machine.slice/machine-qemu\\x2d1\\x2d", ".scope\n", &f);
	assert_int_equal(strlen(f.machine), CGROUP_MACHINE_MAX - 1);
	parse_name("0::/nomad.slice/share.slice/" UID ".", ".scope\n", &f);
	assert_int_equal(strlen(f.task), CGROUP_TASK_MAX - 1);
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

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_names_are_bounded),
	TEST(test_names_of_machines_and_tasks_are_bounded),
	TEST(test_path),
};

TEST_MAIN(tests)
