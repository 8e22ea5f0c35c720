/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the host the agent cannot see: sentences for people. */
#include "agent/process/host_view.h"

const char *host_view_missing(enum host_finding finding)
{
	static const char *const texts[HOST_FINDING_MAX] = {
		[HOST_GVISOR] = "this kernel is gVisor, which runs no BPF programs: nothing can be "
				"profiled",
		[HOST_USER_NAMESPACE] =
			"root here is an ordinary user of the host: the kernel will "
			"not load BPF programs",
		[HOST_FOREIGN_PROC] = "/proc shows another pid namespace than the one xagent runs "
				      "in: nobody's number can be looked up, all are named after "
				      "their control group",
		[HOST_PID_NAMESPACE] = "processes outside of this pid namespace have no number "
				       "here: they are named after their control group, their "
				       "programs' functions have no names",
		[HOST_HIDEPID] =
			"/proc is mounted with hidepid: what older processes of others are "
			"called and have mapped cannot be read",
		[HOST_NO_CGROUP] = "the host's cgroup2 is not mounted: processes that hide their "
				   "control group, "
				   "or have no number here, are not named after container or "
				   "service",
		[HOST_CGROUP_NAMESPACE] = "control groups outside of our own cannot be looked up: "
					  "processes that hide theirs, or have no number here, are "
					  "not named after container or service",
		[HOST_WSL2] = "this Linux is a virtual machine of Windows (WSL2): processes of "
			      "Windows are not in it",
		[HOST_DOCKER_DESKTOP] = "this Linux is the virtual machine of Docker Desktop: "
					"processes of macOS or Windows are not in it",
		[HOST_ORBSTACK] = "this Linux is the virtual machine of OrbStack: processes of "
				  "macOS are not in it",
	};

	return texts[finding];
}

#define HOST_CGROUP_VOLUME                                                                       \
	"mount a `hostPath` volume of /sys/fs/cgroup at /sys/fs/cgroup, with `readOnly: true`, " \
	"in "                                                                                    \
	"the pod's spec"

/* Where a place has no words of its own the machine's hold. */
static const char *const fixes[HOST_FINDING_MAX][HOST_PLACE_MAX] = {
	[HOST_GVISOR] = { "run xagent on the machine itself",
			  [HOST_PLACE_DOCKER] = "`docker run --runtime=runc`",
			  [HOST_PLACE_KUBERNETES] = "leave out `runtimeClassName: gvisor` in the "
						    "pod's spec" },
	[HOST_USER_NAMESPACE] = { "start xagent as root of the host, outside of this user "
				  "namespace",
				  [HOST_PLACE_DOCKER] = "`docker run --userns=host`, in a Compose "
							"file `userns_mode: host`; a rootless "
							"daemon cannot do it",
				  [HOST_PLACE_PODMAN] = "run podman as root",
				  [HOST_PLACE_KUBERNETES] =
					  "write `hostUsers: true` into the pod's "
					  "spec" },
	[HOST_FOREIGN_PROC] = { "mount the own one: `unshare --pid --fork --mount-proc`, or `mount "
				"-t proc proc /proc`",
				[HOST_PLACE_DOCKER] = "`docker run --pid=host`, in a Compose file "
						      "`pid: host`, and no volume at /proc",
				[HOST_PLACE_PODMAN] = "`podman run --pid=host`, and no volume at "
						      "/proc",
				[HOST_PLACE_KUBERNETES] = "write `hostPID: true` into the pod's "
							  "spec, and no `mountPath: /proc`" },
	[HOST_PID_NAMESPACE] = { "start xagent outside of this pid namespace (a systemd unit: "
				 "`PrivatePIDs=no`)",
				 [HOST_PLACE_DOCKER] = "`docker run --pid=host`, in a Compose file "
						       "`pid: host`",
				 [HOST_PLACE_PODMAN] = "`podman run --pid=host`",
				 [HOST_PLACE_KUBERNETES] = "write `hostPID: true` into the pod's "
							   "spec",
				 [HOST_PLACE_NESTED_NODE] =
					 "this node is a container itself (kind, minikube, k3d, "
					 "LXC): run xagent on the machine below it to see the rest",
				 [HOST_PLACE_WSL2] =
					 "run xagent in each distribution that is to be "
					 "profiled" },
	[HOST_HIDEPID] = { "grant CAP_SYS_PTRACE, or `mount -o remount,hidepid=0 /proc`",
			   [HOST_PLACE_DOCKER] = "`docker run --cap-add=SYS_PTRACE`, in a Compose "
						 "file `cap_add: [SYS_PTRACE]`",
			   [HOST_PLACE_PODMAN] = "`podman run --cap-add=SYS_PTRACE`",
			   [HOST_PLACE_KUBERNETES] =
				   "write `capabilities: {add: [SYS_PTRACE]}` into "
				   "the container's `securityContext`" },
	[HOST_NO_CGROUP] = { "`mount -t cgroup2 none /sys/fs/cgroup`, on hosts of cgroup v1 at "
			     "/sys/fs/cgroup/unified",
			     [HOST_PLACE_DOCKER] = "`docker run -v "
						   "/sys/fs/cgroup:/sys/fs/cgroup:ro`",
			     [HOST_PLACE_PODMAN] = "`podman run -v "
						   "/sys/fs/cgroup:/sys/fs/cgroup:ro`",
			     [HOST_PLACE_KUBERNETES] = HOST_CGROUP_VOLUME },
	[HOST_CGROUP_NAMESPACE] = { "start xagent outside of this cgroup namespace",
				    [HOST_PLACE_DOCKER] = "`docker run --cgroupns=host`, in a "
							  "Compose file `cgroup: host`",
				    [HOST_PLACE_PODMAN] = "`podman run --cgroupns=host`",
				    [HOST_PLACE_KUBERNETES] = HOST_CGROUP_VOLUME,
				    [HOST_PLACE_NESTED_NODE] = HOST_CGROUP_VOLUME },
	[HOST_WSL2] = { "profile them in Windows" },
	[HOST_DOCKER_DESKTOP] = { "profile them there; `docker run --pid=host --cgroupns=host` "
				  "shows "
				  "all containers" },
	[HOST_ORBSTACK] = { "profile them there; `docker run --pid=host --cgroupns=host` shows all "
			    "containers" },
};

const char *host_view_fix(const struct host_view *v, enum host_finding finding)
{
	const char *fix = fixes[finding][v->place];

	return fix ? fix : fixes[finding][HOST_PLACE_MACHINE];
}
