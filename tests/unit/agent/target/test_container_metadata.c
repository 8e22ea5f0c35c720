/* SPDX-License-Identifier: Apache-2.0 */
/* What each runtime writes down of a container, in a made-up root. */
#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "agent/target/container_metadata.h"
#include "agent/target/container_metadata_private.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/target/fake_root.h"

#define HEX_32 "0123456789abcdef0123456789abcdef"
#define ID HEX_32 HEX_32
#define SANDBOX "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID_ECS HEX_32 "-1234567890"
#define UID "3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b"
#define UID_UNDERSCORES "3f2a9c1e_5b7d_4e8f_9a0b_1c2d3e4f5a6b"

#define CGROUP_DOCKER "0::/system.slice/docker-" ID ".scope\n"
#define CGROUP_DOCKER_USER \
	"0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope\n"
#define CGROUP_CRI \
	"0::/kubepods.slice/kubepods-pod" UID_UNDERSCORES ".slice/cri-containerd-" ID ".scope\n"
#define CGROUP_CRIO \
	"0::/kubepods.slice/kubepods-pod" UID_UNDERSCORES ".slice/crio-" ID ".scope/container\n"
#define CGROUP_KUBEPODS "0::/kubepods/burstable/pod" UID "/" ID "\n"
#define CGROUP_POD "0::/kubepods/burstable/pod" UID "\n"
#define CGROUP_NERDCTL "0::/system.slice/nerdctl-" ID ".scope\n"
#define CGROUP_PODMAN "0::/machine.slice/libpod-" ID ".scope/container\n"
#define CGROUP_PODMAN_USER \
	"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope\n"

#define DOCKER "/var/lib/docker/containers/" ID "/config.v2.json"
#define TASKS "/run/containerd/io.containerd.runtime.v2.task/"
#define STORAGE "/var/lib/containers/storage/overlay-containers/"
#define USER_STORAGE "/home/ann/.local/share/containers/storage/overlay-containers/"
#define PASSWD "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000:,,,:/home/ann:/bin/zsh\n"

#define PID 42
/* What /proc shows of the container's process, and of the host. */
#define MOUNTINFO "/proc/42/mountinfo"
#define HOST_MOUNTINFO "/proc/1/mountinfo"
#define HOST_MOUNTS                                                 \
	"22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n" \
	"30 22 0:30 / /proc rw - proc proc rw\n"                    \
	"41 22 254:16 /srv/data /data rw - ext4 /dev/vdb rw\n"

#define FILES_MAX 4

struct fake_file {
	const char *path, *text;
};

/* Facts not named are expected to be empty. */
struct metadata_row {
	const char *name, *cgroup;
	struct fake_file files[FILES_MAX];
	struct container_facts expected;
};

static const struct metadata_row rows[] = {
	{ "docker",
	  CGROUP_DOCKER,
	  { { DOCKER, "{\"ID\":\"" ID "\",\"Name\":\"/web\",\"Config\":{\"Image\":\"nginx:1.27\","
		      "\"Labels\":{\"maintainer\":\"x\"}}}" } },
	  { .name = "web", .image = "nginx:1.27" } },
	{ "docker name without a slash",
	  CGROUP_DOCKER,
	  { { DOCKER, "{\"Name\":\"web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker labels of null",
	  CGROUP_DOCKER,
	  { { DOCKER, "{\"Name\":\"/web\",\"Config\":{\"Image\":\"a\",\"Labels\":null}}" } },
	  { .name = "web", .image = "a" } },
	{ "docker compose",
	  CGROUP_DOCKER,
	  { { DOCKER, "{\"Name\":\"/shop-db-1\",\"Config\":{\"Image\":\"postgres\",\"Labels\":{"
		      "\"com.docker.compose.project\":\"shop\","
		      "\"com.docker.compose.service\":\"db\"}}}" } },
	  { .name = "shop-db-1",
	    .image = "postgres",
	    .compose_project = "shop",
	    .compose_service = "db" } },
	{ "docker swarm",
	  CGROUP_DOCKER,
	  { { DOCKER, "{\"Name\":\"/shop_web.1.abc\",\"Config\":{\"Image\":\"web\",\"Labels\":{"
		      "\"com.docker.swarm.service.name\":\"shop_web\"}}}" } },
	  { .name = "shop_web.1.abc", .image = "web", .swarm_service = "shop_web" } },
	{ "cri-dockerd",
	  CGROUP_KUBEPODS,
	  { { DOCKER, "{\"Name\":\"/k8s_app_web-1_prod_x_0\",\"Config\":{\"Image\":\"web\","
		      "\"Labels\":{\"io.kubernetes.container.name\":\"app\","
		      "\"io.kubernetes.pod.name\":\"web-1\","
		      "\"io.kubernetes.pod.namespace\":\"prod\","
		      "\"io.kubernetes.sandbox.id\":\"" SANDBOX "\"}}}" },
	    { "/var/lib/docker/containers/" SANDBOX "/config.v2.json",
	      "{\"Name\":\"/k8s_POD_web-1_prod_x_0\",\"Config\":{\"Labels\":{"
	      "\"annotation.pyroscope.io/service_name\":\"shop\"}}}" } },
	  { .name = "k8s_app_web-1_prod_x_0",
	    .image = "web",
	    .namespace = "prod",
	    .pod = "web-1",
	    .pod_container = "app",
	    .pod_service_name = "shop" } },
	{ "cri-dockerd sandbox",
	  CGROUP_KUBEPODS,
	  { { DOCKER, "{\"Name\":\"/k8s_POD\",\"Config\":{\"Labels\":{"
		      "\"io.kubernetes.container.name\":\"POD\","
		      "\"io.kubernetes.pod.name\":\"web-1\","
		      "\"io.kubernetes.pod.namespace\":\"prod\"}}}" } },
	  { .name = "k8s_POD", .namespace = "prod", .pod = "web-1" } },
	{ "docker elsewhere",
	  CGROUP_DOCKER,
	  { { "/etc/docker/daemon.json", "{\"debug\":true,\"data-root\":\"/data/docker\"}" },
	    { "/data/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker elsewhere, long ago",
	  CGROUP_DOCKER,
	  { { "/etc/docker/daemon.json", "{\"graph\":\"/data/docker\"}" },
	    { "/data/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker's configuration is broken",
	  CGROUP_DOCKER,
	  { { "/etc/docker/daemon.json", "{\"data-root\":" },
	    { DOCKER, "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker's configuration is nonsense",
	  CGROUP_DOCKER,
	  { { "/etc/docker/daemon.json", "{\"data-root\":\"relative\"}" },
	    { DOCKER, "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker snap",
	  CGROUP_DOCKER,
	  { { "/var/snap/docker/common/var-lib-docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker rootless",
	  CGROUP_DOCKER_USER,
	  { { "/etc/passwd", PASSWD },
	    { "/home/ann/.local/share/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/ann-web\",\"Config\":{}}" } },
	  { .name = "ann-web" } },
	{ "docker rootless of who is not known",
	  CGROUP_DOCKER_USER,
	  { { "/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nshort:x:1000\n" },
	    { "/home/ann/.local/share/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/ann-web\",\"Config\":{}}" } },
	  { 0 } },
	{ "docker not JSON", CGROUP_DOCKER, { { DOCKER, "{\"Name\":\"/web\"" } }, { 0 } },
	{ "docker not an object", CGROUP_DOCKER, { { DOCKER, "[1,2]" } }, { 0 } },
	{ "docker wrong types",
	  CGROUP_DOCKER,
	  { { DOCKER, "{\"Name\":7,\"Config\":{\"Image\":[],\"Labels\":\"x\"}}" } },
	  { 0 } },
	{ "docker strange text",
	  CGROUP_DOCKER,
	  { { DOCKER, "{\"Name\":\"/a\\nb\\u0000c\",\"Config\":{\"Image\":\"\xc3\xa9\"}}" } },
	  { .name = "a?b", .image = "\xc3\xa9" } },
	{ "docker by its mounts",
	  CGROUP_DOCKER,
	  { { MOUNTINFO, "501 500 0:77 / / rw - overlay overlay rw\n"
			 "502 501 254:1 /opt/docker/containers/" ID "/hostname /etc/hostname rw - "
			 "ext4 /dev/vda1 rw\n" },
	    { HOST_MOUNTINFO, HOST_MOUNTS },
	    { "/opt/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker by its mounts, on a disk of its own",
	  CGROUP_DOCKER,
	  { { MOUNTINFO, "502 501 254:16 /srv/data/docker/containers/" ID
			 "/resolv.conf /etc/resolv.conf rw - ext4 /dev/vdb rw\n" },
	    { HOST_MOUNTINFO, HOST_MOUNTS },
	    { "/data/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { .name = "web" } },
	{ "docker by its mounts, not mounted for us",
	  CGROUP_DOCKER,
	  { { MOUNTINFO, "502 501 254:16 /srv/database/docker/containers/" ID
			 "/hosts /etc/hosts rw - ext4 /dev/vdb rw\n"
			 "503 501 254:17 /x/containers/" ID "/hosts /etc/hosts rw - ext4 x rw\n" },
	    { HOST_MOUNTINFO, HOST_MOUNTS },
	    { "/database/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { 0 } },
	{ "docker by another's mounts",
	  CGROUP_DOCKER,
	  { { MOUNTINFO, "502 501 254:1 /opt/docker/containers/" SANDBOX
			 "/hosts /etc/hosts rw - ext4 /dev/vda1 rw\nbroken\n\n1 2 3:4\n" },
	    { HOST_MOUNTINFO, HOST_MOUNTS },
	    { "/opt/docker/containers/" ID "/config.v2.json",
	      "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { 0 } },
	{ "podman by its mounts",
	  CGROUP_PODMAN,
	  { { MOUNTINFO, "502 501 254:1 /opt/storage/overlay-containers/" ID
			 "/userdata/hostname /etc/hostname rw - ext4 /dev/vda1 rw\n" },
	    { HOST_MOUNTINFO, HOST_MOUNTS },
	    { "/opt/storage/overlay-containers/containers.json",
	      "[{\"id\":\"" ID "\",\"names\":[\"web\"]}]" } },
	  { .name = "web" } },
	{ "ecs",
	  "0::/ecs/" HEX_32 "/" ID_ECS "\n",
	  { { "/var/lib/docker/containers/" ID_ECS "/config.v2.json",
	      "{\"Name\":\"/ecs-web\",\"Config\":{}}" } },
	  { .name = "ecs-web" } },
	{ "containerd",
	  CGROUP_CRI,
	  { { TASKS "k8s.io/" ID "/config.json",
	      "{\"ociVersion\":\"1.1.0\",\"annotations\":{"
	      "\"io.kubernetes.cri.container-type\":\"container\","
	      "\"io.kubernetes.cri.container-name\":\"app\","
	      "\"io.kubernetes.cri.image-name\":\"docker.io/library/web:1\","
	      "\"io.kubernetes.cri.sandbox-id\":\"" SANDBOX "\","
	      "\"io.kubernetes.cri.sandbox-name\":\"web-1\","
	      "\"io.kubernetes.cri.sandbox-namespace\":\"prod\"}}" },
	    { TASKS "k8s.io/" SANDBOX "/config.json",
	      "{\"annotations\":{\"io.kubernetes.cri.container-type\":\"sandbox\","
	      "\"pyroscope.io/service_name\":\"shop\"}}" } },
	  { .image = "docker.io/library/web:1",
	    .namespace = "prod",
	    .pod = "web-1",
	    .pod_container = "app",
	    .pod_service_name = "shop" } },
	{ "containerd sandbox",
	  CGROUP_CRI,
	  { { TASKS "k8s.io/" ID "/config.json",
	      "{\"annotations\":{\"io.kubernetes.cri.container-type\":\"sandbox\","
	      "\"io.kubernetes.cri.sandbox-id\":\"" ID "\","
	      "\"io.kubernetes.cri.sandbox-name\":\"web-1\","
	      "\"io.kubernetes.cri.sandbox-namespace\":\"prod\"}}" } },
	  { .namespace = "prod", .pod = "web-1" } },
	{ "containerd annotation of the container",
	  CGROUP_CRI,
	  { { TASKS "k8s.io/" ID "/config.json",
	      "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
	      "\"pyroscope.io/service_name\":\"shop\"}}" } },
	  { .pod_container = "app", .pod_service_name = "shop" } },
	{ "k3s",
	  CGROUP_KUBEPODS,
	  { { "/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
	      "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
	      "\"io.kubernetes.cri.sandbox-name\":\"web-1\","
	      "\"io.kubernetes.cri.sandbox-namespace\":\"prod\"}}" } },
	  { .namespace = "prod", .pod = "web-1", .pod_container = "app" } },
	{ "nerdctl",
	  CGROUP_NERDCTL,
	  { { TASKS "default/" ID "/config.json",
	      "{\"annotations\":{\"nerdctl/name\":\"web\",\"nerdctl/labels\":"
	      "\"{\\\"com.docker.compose.project\\\":\\\"shop\\\","
	      "\\\"com.docker.compose.service\\\":\\\"db\\\"}\"}}" } },
	  { .name = "web", .compose_project = "shop", .compose_service = "db" } },
	{ "nerdctl broken labels",
	  CGROUP_NERDCTL,
	  { { TASKS "default/" ID "/config.json",
	      "{\"annotations\":{\"nerdctl/name\":\"web\",\"nerdctl/labels\":\"{\"}}" } },
	  { .name = "web" } },
	{ "cri-o",
	  CGROUP_CRIO,
	  { { STORAGE ID "/userdata/config.json",
	      "{\"annotations\":{\"io.kubernetes.container.name\":\"app\","
	      "\"io.kubernetes.pod.name\":\"web-1\",\"io.kubernetes.pod.namespace\":\"prod\","
	      "\"io.kubernetes.cri-o.ImageName\":\"quay.io/shop/web:1\","
	      "\"io.kubernetes.cri-o.ContainerType\":\"container\","
	      "\"io.kubernetes.cri-o.SandboxID\":\"" SANDBOX "\"}}" },
	    { STORAGE SANDBOX "/userdata/config.json",
	      "{\"annotations\":{\"io.kubernetes.cri-o.ContainerType\":\"sandbox\","
	      "\"io.kubernetes.container.name\":\"POD\",\"io.kubernetes.cri-o.Annotations\":"
	      "\"{\\\"pyroscope.io/service_name\\\":\\\"shop\\\"}\"}}" },
	    { STORAGE "containers.json",
	      "[{\"id\":\"" ID "\",\"names\":[\"k8s_app_web-1_prod_x_0\"]}]" } },
	  { .image = "quay.io/shop/web:1",
	    .namespace = "prod",
	    .pod = "web-1",
	    .pod_container = "app",
	    .pod_service_name = "shop" } },
	{ "cri-o sandbox",
	  CGROUP_CRIO,
	  { { STORAGE ID "/userdata/config.json",
	      "{\"annotations\":{\"io.kubernetes.container.name\":\"POD\","
	      "\"io.kubernetes.pod.name\":\"web-1\",\"io.kubernetes.pod.namespace\":\"prod\","
	      "\"io.kubernetes.cri-o.ContainerType\":\"sandbox\"}}" } },
	  { .namespace = "prod", .pod = "web-1" } },
	{ "podman",
	  CGROUP_PODMAN,
	  { { STORAGE ID "/userdata/config.json",
	      "{\"annotations\":{\"io.container.manager\":\"libpod\"}}" },
	    { STORAGE "containers.json", "[{\"id\":\"" SANDBOX "\",\"names\":[\"other\"]},"
					 "{\"id\":\"" ID "\",\"names\":[\"web\"],\"metadata\":"
					 "\"{\\\"image-name\\\":\\\"docker.io/library/"
					 "nginx:1\\\",\\\"name\\\":\\\"web\\\"}\"}]" } },
	  { .name = "web", .image = "docker.io/library/nginx:1" } },
	{ "podman, names in its metadata only",
	  CGROUP_PODMAN,
	  { { STORAGE "containers.json", "[{\"id\":\"" ID "\",\"metadata\":\"{\\\"name\\\":"
					 "\\\"web\\\"}\"}]" } },
	  { .name = "web" } },
	{ "podman volatile",
	  CGROUP_PODMAN,
	  { { STORAGE "volatile-containers.json", "[{\"id\":\"" ID "\",\"names\":[\"web\"]}]" } },
	  { .name = "web" } },
	{ "podman compose",
	  CGROUP_PODMAN,
	  { { STORAGE ID "/userdata/config.json",
	      "{\"annotations\":{\"io.podman.compose.project\":\"shop\","
	      "\"io.podman.compose.service\":\"db\"}}" },
	    { STORAGE "containers.json", "[{\"id\":\"" ID "\",\"names\":[\"shop_db_1\"]}]" } },
	  { .name = "shop_db_1", .compose_project = "shop", .compose_service = "db" } },
	{ "podman vfs",
	  CGROUP_PODMAN,
	  { { "/var/lib/containers/storage/vfs-containers/containers.json",
	      "[{\"id\":\"" ID "\",\"names\":[\"web\"]}]" } },
	  { .name = "web" } },
	{ "podman rootless",
	  CGROUP_PODMAN_USER,
	  { { "/etc/passwd", PASSWD },
	    { USER_STORAGE "containers.json", "[{\"id\":\"" ID "\",\"names\":[\"ann-web\"]}]" } },
	  { .name = "ann-web" } },
	{ "podman broken list",
	  CGROUP_PODMAN,
	  { { STORAGE "containers.json", "[{\"id\":\"" ID "\",\"names\":[7]},{\"id\":8},9]" } },
	  { 0 } },
	{ "kubelet's logs",
	  CGROUP_KUBEPODS,
	  { { "/var/log/containers/web-1.x_prod_app-" ID ".log", "" },
	    { "/var/log/containers/other_prod_app-" SANDBOX ".log", "" } },
	  { .namespace = "prod", .pod = "web-1.x", .pod_container = "app" } },
	{ "kubelet's logs, container with dashes",
	  CGROUP_CRI,
	  { { "/var/log/containers/web_prod_my-app-1-" ID ".log", "" } },
	  { .namespace = "prod", .pod = "web", .pod_container = "my-app-1" } },
	{ "kubelet's logs, other names",
	  CGROUP_CRI,
	  { { "/var/log/containers/web_prod-" ID ".log", "" },
	    { "/var/log/containers/_prod_app-" ID ".log", "" },
	    { "/var/log/containers/web_prod_app-" ID ".txt", "" },
	    { "/var/log/containers/a_web_prod_app-" ID ".log", "" } },
	  { 0 } },
	{ "pod by its uid",
	  CGROUP_POD,
	  { { "/var/log/pods/prod_web-1_" UID "/app/0.log", "" },
	    { "/var/log/pods/prod_other_" HEX_32 "/app/0.log", "" } },
	  { .namespace = "prod", .pod = "web-1" } },
	{ "container of a pod by its uid",
	  CGROUP_KUBEPODS,
	  { { "/var/log/pods/prod_web-1_" UID "/app/0.log", "" } },
	  { .namespace = "prod", .pod = "web-1" } },
	{ "no container",
	  "0::/system.slice/nginx.service\n",
	  { { DOCKER, "{\"Name\":\"/web\",\"Config\":{}}" } },
	  { 0 } },
	{ "nothing there", CGROUP_DOCKER, { { 0 } }, { 0 } },
};

struct metadata_fixture {
	struct fake_root root;
	struct container_metadata *metadata;
	struct cgroup_facts cgroup;
	uint64_t now_ns;
};

static struct metadata_fixture *fixture_new(const char *cgroup)
{
	struct metadata_fixture *f = calloc(1, sizeof(*f));

	fake_root_init(&f->root);
	fake_root_dirs(&f->root, "/proc/");
	assert_int_equal(container_metadata_new(f->root.path, &f->metadata), 0);
	cgroup_parse(str_from(cgroup), &f->cgroup);
	f->now_ns = 1000 * NS_PER_S;
	return f;
}

static void fixture_free(struct metadata_fixture *f)
{
	container_metadata_free(f->metadata);
	fake_root_fini(&f->root);
	free(f);
}

static int setup(void **state)
{
	*state = fixture_new(CGROUP_DOCKER);
	return 0;
}

static int teardown(void **state)
{
	fixture_free(*state);
	return 0;
}

static void assert_text(const char *is, const char *expected)
{
	assert_non_null(is);
	assert_string_equal(is, expected ? expected : "");
}

static void assert_facts(const struct container_facts *is, const struct container_facts *expected)
{
	assert_text(is->name, expected->name);
	assert_text(is->image, expected->image);
	assert_text(is->namespace, expected->namespace);
	assert_text(is->pod, expected->pod);
	assert_text(is->pod_container, expected->pod_container);
	assert_text(is->pod_service_name, expected->pod_service_name);
	assert_text(is->compose_project, expected->compose_project);
	assert_text(is->compose_service, expected->compose_service);
	assert_text(is->swarm_service, expected->swarm_service);
}

static void test_row(void **state)
{
	const struct metadata_row *row = *state;
	struct metadata_fixture *f = fixture_new(row->cgroup);

	for (size_t i = 0; i < FILES_MAX && row->files[i].path; i++)
		fake_root_write(&f->root, row->files[i].path, row->files[i].text);
	assert_facts(container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns),
		     &row->expected);
	/* Nothing has changed. */
	assert_false(container_metadata_refresh(f->metadata, f->now_ns + 60 * NS_PER_S));
	assert_facts(container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns),
		     &row->expected);
	fixture_free(f);
}

static const char *name(struct metadata_fixture *f)
{
	return container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns)->name;
}

static void write_docker(struct metadata_fixture *f, const char *container)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "{\"Name\":\"/%s\",\"Config\":{}}", container);
	fake_root_write(&f->root, DOCKER, text);
}

static void test_rename_is_seen(void **state)
{
	struct metadata_fixture *f = *state;

	write_docker(f, "one");
	assert_string_equal(name(f), "one");
	write_docker(f, "two");
	assert_string_equal(name(f), "one");
	assert_true(container_metadata_refresh(f->metadata, f->now_ns));
	assert_string_equal(name(f), "two");
	assert_false(container_metadata_refresh(f->metadata, f->now_ns));
}

/* The stamp has changed, but not what we tell. */
static void test_rewritten_alike_is_no_change(void **state)
{
	struct metadata_fixture *f = *state;

	write_docker(f, "one");
	assert_string_equal(name(f), "one");
	write_docker(f, "one");
	assert_false(container_metadata_refresh(f->metadata, f->now_ns));
}

static void test_podman_rename_is_seen(void **state)
{
	struct metadata_fixture *f = *state;
	static const char path[] = STORAGE "containers.json";

	cgroup_parse(STR_LIT(CGROUP_PODMAN), &f->cgroup);
	fake_root_write(&f->root, path, "[{\"id\":\"" ID "\",\"names\":[\"one\"]}]");
	assert_string_equal(name(f), "one");
	fake_root_write(&f->root, path, "[{\"id\":\"" ID "\",\"names\":[\"two\"]}]");
	assert_true(container_metadata_refresh(f->metadata, f->now_ns));
	assert_string_equal(name(f), "two");
}

static void test_what_is_gone_is_still_known(void **state)
{
	struct metadata_fixture *f = *state;

	write_docker(f, "one");
	assert_string_equal(name(f), "one");
	assert_int_equal(unlink(fake_root_path(&f->root, DOCKER)), 0);
	assert_false(container_metadata_refresh(f->metadata, f->now_ns));
	assert_string_equal(name(f), "one");
}

/* How often it was opened since the last time. */
static int n_opens(int watch)
{
	char events[4096];
	ssize_t n = read(watch, events, sizeof(events));

	return n < 0 ? 0 : (int)(n / (ssize_t)sizeof(struct inotify_event));
}

/* Records below a user's home are what the user wants them to be. */
static void test_trap_in_place_of_a_users_record(void **state)
{
	static const char record[] =
		"/home/ann/.local/share/docker/containers/" ID "/config.v2.json";
	struct metadata_fixture *f = *state;
	_cleanup_close_ int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	cgroup_parse(STR_LIT(CGROUP_DOCKER_USER), &f->cgroup);
	fake_root_write(&f->root, "/etc/passwd", PASSWD);
	fake_root_write(&f->root, record, "");
	assert_int_equal(unlink(fake_root_path(&f->root, record)), 0);
	assert_int_equal(mkfifo(fake_root_path(&f->root, "/trap"), 0666), 0);
	assert_true(inotify_add_watch(watch, fake_root_path(&f->root, "/trap"), IN_OPEN) >= 0);
	assert_int_equal(symlink("/trap", fake_root_path(&f->root, record)), 0);
	assert_string_equal(name(f), "");
	assert_false(container_metadata_refresh(f->metadata, f->now_ns + 60 * NS_PER_S));
	assert_int_equal(n_opens(watch), 0);
	_cleanup_close_ int fd =
		open(fake_root_path(&f->root, "/trap"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(n_opens(watch), 1);
	assert_int_equal(unlink(fake_root_path(&f->root, record)), 0);
	fake_root_write(&f->root, record, "{\"Name\":\"/web\",\"Config\":{}}");
	assert_true(container_metadata_refresh(f->metadata, f->now_ns + 120 * NS_PER_S));
	assert_string_equal(name(f), "web");
}

/* At 0.2 s, 1 s and 5 s, then whenever somebody refreshes. */
static void test_looked_for_again(void **state)
{
	struct metadata_fixture *f = *state;
	uint64_t begin_ns = f->now_ns;

	assert_string_equal(name(f), "");
	assert_int_equal(container_metadata_due_ns(f->metadata), begin_ns + 200 * NS_PER_MS);
	write_docker(f, "one");
	f->now_ns = begin_ns + 199 * NS_PER_MS;
	assert_false(container_metadata_refresh(f->metadata, f->now_ns));
	assert_string_equal(name(f), "");
	f->now_ns = begin_ns + 200 * NS_PER_MS;
	assert_true(container_metadata_refresh(f->metadata, f->now_ns));
	assert_string_equal(name(f), "one");
	assert_int_equal(container_metadata_due_ns(f->metadata), UINT64_MAX);
}

static void test_the_times_it_is_looked_for(void **state)
{
	struct metadata_fixture *f = *state;
	uint64_t begin_ns = f->now_ns;

	assert_string_equal(name(f), "");
	assert_false(container_metadata_refresh(f->metadata, begin_ns + 300 * NS_PER_MS));
	assert_int_equal(container_metadata_due_ns(f->metadata), begin_ns + NS_PER_S);
	assert_false(container_metadata_refresh(f->metadata, begin_ns + 2 * NS_PER_S));
	assert_int_equal(container_metadata_due_ns(f->metadata), begin_ns + 5 * NS_PER_S);
	assert_false(container_metadata_refresh(f->metadata, begin_ns + 6 * NS_PER_S));
	assert_int_equal(container_metadata_due_ns(f->metadata), UINT64_MAX);
	write_docker(f, "one");
	assert_true(container_metadata_refresh(f->metadata, begin_ns + 7 * NS_PER_S));
	assert_string_equal(name(f), "one");
}

static void test_whoever_asks_looks_too(void **state)
{
	struct metadata_fixture *f = *state;

	assert_string_equal(name(f), "");
	write_docker(f, "one");
	f->now_ns += 250 * NS_PER_MS;
	assert_string_equal(name(f), "one");
}

static void test_link_that_comes_later(void **state)
{
	struct metadata_fixture *f = *state;

	cgroup_parse(STR_LIT(CGROUP_KUBEPODS), &f->cgroup);
	fake_root_write(&f->root, "/var/log/containers/a_b_c-" SANDBOX ".log", "");
	const struct container_facts *facts =
		container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns);
	assert_string_equal(facts->pod, "");
	fake_root_write(&f->root, "/var/log/containers/web_prod_app-" ID ".log", "");
	f->now_ns += 250 * NS_PER_MS;
	assert_true(container_metadata_refresh(f->metadata, f->now_ns));
	facts = container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns);
	assert_string_equal(facts->pod_container, "app");
}

/* Links lead to where they would on that host, not on ours. */
static void test_links_stay_below_the_root(void **state)
{
	struct metadata_fixture *f = *state;

	fake_root_write(&f->root, "/data/docker/containers/" ID "/config.v2.json",
			"{\"Name\":\"/web\",\"Config\":{}}");
	fake_root_dirs(&f->root, "/var/lib/x");
	assert_int_equal(symlink("/data/docker", fake_root_path(&f->root, "/var/lib/docker")), 0);
	assert_string_equal(name(f), "web");
}

static void test_a_fifo_is_no_file(void **state)
{
	struct metadata_fixture *f = *state;

	fake_root_dirs(&f->root, DOCKER);
	assert_int_equal(mkfifo(fake_root_path(&f->root, DOCKER), 0644), 0);
	fake_root_dirs(&f->root, "/var/log/x");
	assert_int_equal(mkfifo(fake_root_path(&f->root, "/var/log/containers"), 0644), 0);
	assert_string_equal(name(f), "");
}

static void write_large(struct metadata_fixture *f, size_t bytes)
{
	char *text = malloc(bytes + 64);
	int n = snprintf(text, 64, "{\"Name\":\"/web\",\"Config\":{},\"x\":\"");

	memset(text + n, 'x', bytes);
	memcpy(text + bytes, "\"}", 3);
	fake_root_write(&f->root, DOCKER, text);
	free(text);
}

static void test_too_large(void **state)
{
	struct metadata_fixture *f = *state;

	write_large(f, (size_t)600 << 10);
	assert_string_equal(name(f), "");
	write_large(f, (size_t)100 << 10);
	assert_true(container_metadata_refresh(f->metadata, f->now_ns + NS_PER_S));
	assert_string_equal(name(f), "web");
}

static void test_long_names_are_cut(void **state)
{
	struct metadata_fixture *f = *state;
	char text[4096];
	int n = snprintf(text, sizeof(text), "{\"Config\":{},\"Name\":\"/");

	memset(text + n, 'n', 3000);
	memcpy(text + n + 3000, "\"}", 3);
	fake_root_write(&f->root, DOCKER, text);
	assert_int_equal(strlen(name(f)), 1023);
}

/* A path that was not made by cgroup_parse(). */
static void test_ids_are_no_paths(void **state)
{
	struct metadata_fixture *f = *state;

	fake_root_write(&f->root, "/var/lib/docker/containers/x/config.v2.json",
			"{\"Name\":\"/web\",\"Config\":{}}");
	(void)strcpy(f->cgroup.container_id, "../containers/x");
	assert_string_equal(name(f), "");
}

static void test_ceiling(void **state)
{
	struct metadata_fixture *f = *state;

	write_docker(f, "one");
	assert_string_equal(name(f), "one");
	assert_int_equal(unlink(fake_root_path(&f->root, DOCKER)), 0);
	for (unsigned int i = 0; i < CONTAINER_METADATA_MAX - 1; i++) {
		struct cgroup_facts other = f->cgroup;

		(void)snprintf(other.container_id, sizeof(other.container_id), "%064x", i);
		(void)container_metadata_find(f->metadata, &other, 0, f->now_ns);
	}
	assert_string_equal(name(f), "one");
	struct cgroup_facts last = f->cgroup;
	for (unsigned int i = 0; i < CONTAINER_METADATA_MAX; i++) {
		(void)snprintf(last.container_id, sizeof(last.container_id), "f%063x", i);
		(void)container_metadata_find(f->metadata, &last, 0, f->now_ns);
	}
	assert_string_equal(name(f), "");
}

/* It is not this host then. */
static void test_root_that_is_not_there(void **state)
{
	_cleanup_(container_metadata_freep) struct container_metadata *b = NULL;
	const struct metadata_fixture *f = *state;
	static const struct metadata_stamp none;
	struct metadata_files files;

	assert_int_equal(container_metadata_new("/nowhere/at/all", &b), 0);
	assert_string_equal(container_metadata_find(b, &f->cgroup, 0, f->now_ns)->name, "");
	metadata_files_init(&files, "/nowhere/at/all");
	struct metadata_stamp stamp = metadata_stamp(&files, "/etc/passwd");
	assert_true(metadata_stamp_equal(&stamp, &none));
	metadata_files_fini(&files);
	metadata_files_init(&files, "");
	stamp = metadata_stamp(&files, "/etc/passwd");
	assert_false(metadata_stamp_equal(&stamp, &none));
	metadata_files_fini(&files);
}

static int wait_for(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									       : 99;
}

/* Our root has nothing, pid 1's has a list of users. */
static int see_root_of_init(const struct fake_root *root)
{
	static const struct metadata_stamp none;
	struct metadata_files files;

	if (chroot(root->path) < 0)
		return 77;
	metadata_files_init(&files, "");
	struct metadata_stamp stamp = metadata_stamp(&files, "/etc/passwd");
	metadata_files_fini(&files);
	return metadata_stamp_equal(&stamp, &none);
}

/* Pid 1 of a namespace, and a child of it. */
static int be_init(const struct fake_root *root)
{
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", fake_root_path(root, "/proc"), "proc", 0, NULL) < 0)
		return 77;
	pid_t pid = fork();
	if (pid == 0)
		_exit(see_root_of_init(root));
	return wait_for(pid);
}

static int be_host(const struct fake_root *root)
{
	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
		return 77;
	pid_t pid = fork();
	if (pid == 0)
		_exit(be_init(root));
	return wait_for(pid);
}

/* Who sees the host's processes sees its files. */
static void test_from_a_container(void **state)
{
	struct metadata_fixture *f = *state;

	fake_root_dirs(&f->root, "/proc/x");
	pid_t pid = fork();
	if (pid == 0)
		_exit(be_host(&f->root));
	int r = wait_for(pid);
	if (r == 77) {
		print_message("no namespaces of our own: skipped\n");
		skip();
	}
	assert_int_equal(r, 0);
}

static void make_process(struct metadata_fixture *f, unsigned int pid, unsigned int parent_pid,
			 const char *root)
{
	char path[64], text[128];

	(void)snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	(void)snprintf(text, sizeof(text),
		       "%u (x) S %u 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n", pid,
		       parent_pid);
	fake_root_write(&f->root, path, text);
	(void)snprintf(path, sizeof(path), "/proc/%u/root", pid);
	assert_int_equal(symlink(root, fake_root_path(&f->root, path)), 0);
}

/* A pod of kind: its process, its shim and the node's init, of which the last two have the node's root. */
static void make_kind(struct metadata_fixture *f, const char *shims_root)
{
	cgroup_parse(STR_LIT("0::/docker/" SANDBOX "/kubelet.slice/kubelet-kubepods.slice/"
			     "kubelet-kubepods-pod" UID_UNDERSCORES ".slice/cri-containerd-" ID
			     ".scope\n"),
		     &f->cgroup);
	fake_root_dirs(&f->root, "/pod/x");
	fake_root_write(&f->root, "/node" TASKS "k8s.io/" ID "/config.json",
			"{\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
			"\"io.kubernetes.cri.sandbox-name\":\"web-1\","
			"\"io.kubernetes.cri.sandbox-namespace\":\"prod\"}}");
	make_process(f, PID, 41, "../../pod");
	make_process(f, 41, 40, "../../pod");
	make_process(f, 40, 30, shims_root);
	make_process(f, 30, 1, "../../node");
}

static void test_container_in_a_container(void **state)
{
	struct metadata_fixture *f = *state;

	make_kind(f, "../../node");
	const struct container_facts expected = { .namespace = "prod",
						  .pod = "web-1",
						  .pod_container = "app" };
	assert_facts(container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns), &expected);
	assert_false(container_metadata_refresh(f->metadata, f->now_ns + NS_PER_S));
	assert_facts(container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns), &expected);
}

/* The shim is the host's: nobody above it is asked. */
static void test_container_of_the_host(void **state)
{
	struct metadata_fixture *f = *state;

	make_kind(f, "../..");
	assert_facts(container_metadata_find(f->metadata, &f->cgroup, PID, f->now_ns),
		     &(struct container_facts){ 0 });
}

/* A chain of parents that does not end. */
static void test_ancestors_without_end(void **state)
{
	struct metadata_fixture *f = *state;

	fake_root_dirs(&f->root, "/pod/x");
	make_process(f, PID, PID, "../../pod");
	assert_string_equal(name(f), "");
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	FIXTURE_TEST(test_rename_is_seen),
	FIXTURE_TEST(test_rewritten_alike_is_no_change),
	FIXTURE_TEST(test_podman_rename_is_seen),
	FIXTURE_TEST(test_what_is_gone_is_still_known),
	FIXTURE_TEST(test_trap_in_place_of_a_users_record),
	FIXTURE_TEST(test_looked_for_again),
	FIXTURE_TEST(test_the_times_it_is_looked_for),
	FIXTURE_TEST(test_whoever_asks_looks_too),
	FIXTURE_TEST(test_link_that_comes_later),
	FIXTURE_TEST(test_links_stay_below_the_root),
	FIXTURE_TEST(test_a_fifo_is_no_file),
	FIXTURE_TEST(test_too_large),
	FIXTURE_TEST(test_long_names_are_cut),
	FIXTURE_TEST(test_ids_are_no_paths),
	FIXTURE_TEST(test_ceiling),
	FIXTURE_TEST(test_root_that_is_not_there),
	FIXTURE_TEST(test_from_a_container),
	FIXTURE_TEST(test_container_in_a_container),
	FIXTURE_TEST(test_container_of_the_host),
	FIXTURE_TEST(test_ancestors_without_end),
};

TEST_MAIN(tests)
