/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's own records: DATA-ROOT/containers/ID/config.v2.json.
 *
 * They are written when the container is made, before it starts, and anew (by rename) when it is renamed. Kubernetes through
 * cri-dockerd puts what a container is of into labels; the pod's annotations are labels of its sandbox, with a prefix.
 */
#include <string.h>

#include "agent/target/container_metadata_private.h"
#include "agent/util/macro.h"

/* A few lines in practice. */
#define DAEMON_JSON_MAX_BYTES ((size_t)64 << 10)

static const struct metadata_word label_words[] = {
	{ "com.docker.compose.project", METADATA_COMPOSE_PROJECT },
	{ "com.docker.compose.service", METADATA_COMPOSE_SERVICE },
	{ "io.podman.compose.project", METADATA_COMPOSE_PROJECT },
	{ "io.podman.compose.service", METADATA_COMPOSE_SERVICE },
	{ "com.docker.swarm.service.name", METADATA_SWARM_SERVICE },
	{ "io.kubernetes.pod.namespace", METADATA_NAMESPACE },
	{ "io.kubernetes.pod.name", METADATA_POD },
	{ "annotation.pyroscope.io/service_name", METADATA_POD_SERVICE_NAME },
};

/* Docker's package, and its snap's. */
static const char *const data_roots[] = { "/var/lib/docker",
					  "/var/snap/docker/common/var-lib-docker" };

static const json_t *labels_of(const json_t *config)
{
	return json_object_get(json_object_get(config, "Config"), "Labels");
}

bool metadata_docker_parse(const json_t *config, struct metadata_page *page)
{
	const char *name = json_string_value(json_object_get(config, "Name"));
	const json_t *labels = labels_of(config);
	const char *container =
		json_string_value(json_object_get(labels, "io.kubernetes.container.name"));

	if (!json_is_object(json_object_get(config, "Config")))
		return false;
	metadata_tell(page, METADATA_NAME, name && name[0] == '/' ? name + 1 : name);
	metadata_tell(
		page, METADATA_IMAGE,
		json_string_value(json_object_get(json_object_get(config, "Config"), "Image")));
	metadata_tell_words(page, labels, label_words, ARRAY_SIZE(label_words));
	/* The sandbox itself. */
	if (container && strcmp(container, "POD") != 0)
		metadata_tell(page, METADATA_POD_CONTAINER, container);
	page->settled = true;
	return true;
}

static json_t *load(struct metadata_look *look, const char *data_root, const char *id)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/containers/%s/config.v2.json", data_root, id);

	return n < (int)sizeof(path) ? metadata_load(look, path) : NULL;
}

static void look_at_sandbox(struct metadata_look *look, const char *data_root, const json_t *config)
{
	const char *id =
		json_string_value(json_object_get(labels_of(config), "io.kubernetes.sandbox.id"));

	if (!id || strlen(id) != strspn(id, "0123456789abcdef"))
		return;
	_cleanup_(json_decrefp) json_t *sandbox = load(look, data_root, id);
	metadata_tell(look->page, METADATA_POD_SERVICE_NAME,
		      json_string_value(json_object_get(labels_of(sandbox),
							"annotation.pyroscope.io/service_name")));
}

static bool look_below(struct metadata_look *look, const char *data_root)
{
	_cleanup_(json_decrefp) json_t *config = load(look, data_root, look->id);

	if (!config || !metadata_docker_parse(config, look->page))
		return false;
	look_at_sandbox(look, data_root, config);
	return true;
}

/* "data-root", before 17.05 "graph". */
static void read_daemon_json(struct metadata_docker *docker, const struct metadata_files *files,
			     const char *path)
{
	_cleanup_buf_ struct buf b = BUF_INIT(DAEMON_JSON_MAX_BYTES);
	struct metadata_stamp stamp = metadata_stamp(files, path);

	if (metadata_stamp_equal(&stamp, &docker->stamp))
		return;
	docker->stamp = stamp;
	docker->data_root[0] = '\0';
	if (metadata_read(files, path, &b, &stamp) < 0)
		return;
	_cleanup_(json_decrefp) json_t *daemon = json_loadb(buf_str(&b), b.len, 0, NULL);
	const char *root = json_string_value(json_object_get(daemon, "data-root"));
	if (!root)
		root = json_string_value(json_object_get(daemon, "graph"));
	if (root && root[0] == '/' && strlen(root) < sizeof(docker->data_root))
		memcpy(docker->data_root, root, strlen(root) + 1);
}

static bool look_below_foreign(struct metadata_look *look, const char *data_root)
{
	struct metadata_files_kept kept;

	metadata_begin_foreign(look, &kept);
	bool found = look_below(look, data_root);
	metadata_end_foreign(look, &kept);
	return found;
}

static bool look_at_user(struct metadata_look *look)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/.local/share/docker", look->home);

	if (!look->home[0] || n >= (int)sizeof(path))
		return false;
	return look_below_foreign(look, path);
}

static bool look_at_mounts(struct metadata_look *look)
{
	static const char suffix[] = "/containers";
	char path[PATH_MAX];

	if (!metadata_find_directory(look, suffix, path))
		return false;
	path[strlen(path) - strlen(suffix)] = '\0';
	return look_below_foreign(look, path);
}

void metadata_docker_look(struct metadata_docker *docker, struct metadata_look *look)
{
	if (!metadata_may_be(look, "docker") && !metadata_may_be(look, "ecs"))
		return;
	if (look_at_user(look))
		return;
	read_daemon_json(docker, look->files, "/etc/docker/daemon.json");
	if (docker->data_root[0] && look_below(look, docker->data_root))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(data_roots); i++)
		if (look_below(look, data_roots[i]))
			return;
	(void)look_at_mounts(look);
}
