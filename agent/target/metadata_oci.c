/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OCI bundles: config.json, in whose annotations containerd, CRI-O, nerdctl and Podman say whose container it is.
 *
 * A pod's own annotations are with its sandbox: containerd passes on those that it is configured to, CRI-O has all of them as a string of
 * JSON.
 */
#include <string.h>

#include "agent/target/container_metadata_private.h"
#include "agent/util/macro.h"

#define SERVICE_NAME_ANNOTATION "pyroscope.io/service_name"
/* Namespaces of containerd: one a client (k8s.io, default, moby, buildkit). */
#define CONTAINERD_NAMESPACES_MAX 64

static const struct metadata_word annotation_words[] = {
	{ "nerdctl/name", METADATA_NAME },
	{ "io.kubernetes.cri.container-name", METADATA_POD_CONTAINER },
	{ "io.kubernetes.cri.sandbox-name", METADATA_POD },
	{ "io.kubernetes.cri.sandbox-namespace", METADATA_NAMESPACE },
	{ "io.kubernetes.cri.image-name", METADATA_IMAGE },
	{ "io.kubernetes.pod.name", METADATA_POD },
	{ "io.kubernetes.pod.namespace", METADATA_NAMESPACE },
	{ "io.kubernetes.cri-o.ImageName", METADATA_IMAGE },
	{ SERVICE_NAME_ANNOTATION, METADATA_POD_SERVICE_NAME },
	{ "com.docker.compose.project", METADATA_COMPOSE_PROJECT },
	{ "com.docker.compose.service", METADATA_COMPOSE_SERVICE },
	{ "io.podman.compose.project", METADATA_COMPOSE_PROJECT },
	{ "io.podman.compose.service", METADATA_COMPOSE_SERVICE },
};

/* Where a container's name is said also of its sandbox: "POD". */
static const struct metadata_word container_words[] = {
	{ "io.kubernetes.container.name", METADATA_POD_CONTAINER },
};

static const struct metadata_word label_words[] = {
	{ "com.docker.compose.project", METADATA_COMPOSE_PROJECT },
	{ "com.docker.compose.service", METADATA_COMPOSE_SERVICE },
};

static const struct metadata_word pod_words[] = {
	{ SERVICE_NAME_ANNOTATION, METADATA_POD_SERVICE_NAME },
};

/* containerd's state: its own, k3s's and RKE2's, k0s's, MicroK8s's, and one that dockerd starts. */
static const char *const state_directories[] = {
	"/run/containerd/io.containerd.runtime.v2.task",
	"/run/containerd/io.containerd.runtime.v1.linux",
	"/run/k3s/containerd/io.containerd.runtime.v2.task",
	"/run/k0s/containerd/io.containerd.runtime.v2.task",
	"/var/snap/microk8s/common/run/containerd/io.containerd.runtime.v2.task",
	"/run/docker/containerd/daemon/io.containerd.runtime.v2.task",
};

/* An annotation that is an object written as a string. */
static void tell_nested(struct metadata_page *page, const json_t *annotations, const char *key,
			const struct metadata_word *words, size_t n)
{
	const char *text = json_string_value(json_object_get(annotations, key));

	if (!text)
		return;
	_cleanup_(json_decrefp) json_t *object =
		json_loadb(text, strlen(text), JSON_ALLOW_NUL, NULL);
	metadata_tell_words(page, object, words, n);
}

static bool says(const json_t *annotations, const char *key, const char *word)
{
	const char *text = json_string_value(json_object_get(annotations, key));

	return text && strcmp(text, word) == 0;
}

static void find_sandbox(const json_t *annotations,
			 char ret_sandbox[static CGROUP_CONTAINER_ID_MAX])
{
	const char *id =
		json_string_value(json_object_get(annotations, "io.kubernetes.cri.sandbox-id"));

	if (!id)
		id = json_string_value(
			json_object_get(annotations, "io.kubernetes.cri-o.SandboxID"));
	ret_sandbox[0] = '\0';
	if (id && strlen(id) < CGROUP_CONTAINER_ID_MAX &&
	    strlen(id) == strspn(id, "0123456789abcdef"))
		memcpy(ret_sandbox, id, strlen(id) + 1);
}

bool metadata_oci_parse(const json_t *config, struct metadata_page *page,
			char ret_sandbox[static CGROUP_CONTAINER_ID_MAX])
{
	const json_t *a = json_object_get(config, "annotations");

	ret_sandbox[0] = '\0';
	if (!json_is_object(config))
		return false;
	bool sandbox = says(a, "io.kubernetes.cri.container-type", "sandbox") ||
		       says(a, "io.kubernetes.cri-o.ContainerType", "sandbox");
	metadata_tell_words(page, a, annotation_words, ARRAY_SIZE(annotation_words));
	if (!sandbox)
		metadata_tell_words(page, a, container_words, ARRAY_SIZE(container_words));
	tell_nested(page, a, "io.kubernetes.cri-o.Annotations", pod_words, ARRAY_SIZE(pod_words));
	tell_nested(page, a, "nerdctl/labels", label_words, ARRAY_SIZE(label_words));
	if (!sandbox)
		find_sandbox(a, ret_sandbox);
	page->settled = sandbox || page->text[METADATA_POD_CONTAINER] || page->text[METADATA_NAME];
	return true;
}

static json_t *load(struct metadata_look *look, const char *directory, const char *id,
		    const char *below)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s%s/config.json", directory, id, below);

	return n < (int)sizeof(path) ? metadata_load(look, path) : NULL;
}

bool metadata_oci_bundle(struct metadata_look *look, const char *directory, const char *below)
{
	char sandbox_id[CGROUP_CONTAINER_ID_MAX], none[CGROUP_CONTAINER_ID_MAX];
	_cleanup_(json_decrefp) json_t *config = load(look, directory, look->id, below);
	struct metadata_page of_sandbox = { 0 };

	if (!config || !metadata_oci_parse(config, look->page, sandbox_id))
		return false;
	if (!sandbox_id[0] || strcmp(sandbox_id, look->id) == 0)
		return true;
	_cleanup_(json_decrefp) json_t *sandbox = load(look, directory, sandbox_id, below);
	if (sandbox && metadata_oci_parse(sandbox, &of_sandbox, none))
		metadata_tell(look->page, METADATA_POD_SERVICE_NAME,
			      of_sandbox.text[METADATA_POD_SERVICE_NAME]);
	metadata_page_fini(&of_sandbox);
	return true;
}

static bool look_in_namespaces(struct metadata_look *look, const char *state)
{
	_cleanup_buf_ struct buf names = BUF_INIT(METADATA_NAMES_MAX_BYTES);
	char path[PATH_MAX];
	size_t at = 0;

	(void)metadata_names(look->files, state, &names);
	for (size_t n = 0; at < names.len && n < CONTAINERD_NAMESPACES_MAX; n++) {
		const char *name = names.data + at;

		at += strlen(name) + 1;
		if (name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", state, name) >= (int)sizeof(path))
			continue;
		if (metadata_oci_bundle(look, path, ""))
			return true;
	}
	return false;
}

void metadata_containerd_look(struct metadata_look *look)
{
	if (!metadata_may_be(look, "containerd"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(state_directories); i++)
		if (look_in_namespaces(look, state_directories[i]))
			return;
}
