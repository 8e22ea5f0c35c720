/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers of containers/storage, which Podman and CRI-O use: STORAGE/DRIVER-containers/ID/userdata/config.json has annotations,
 * STORAGE/DRIVER-containers/containers.json the names and images of all of them.
 */
#include <string.h>

#include "agent/target/container_metadata.h"
#include "agent/target/container_metadata_private.h"
#include "agent/util/macro.h"

static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
/* Lasting ones, and those that do not outlive a restart of the host. */
static const char *const list_names[] = { "containers.json", "volatile-containers.json" };

static void item_fini(struct podman_item *item)
{
	free(item->name);
	free(item->image);
}

static void list_empty_items(struct podman_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		item_fini(&list->items[i]);
	free(list->items);
	list->items = NULL;
	list->n = 0;
}

void podman_list_fini(struct podman_list *list)
{
	list_empty_items(list);
	free(list->path);
	*list = (struct podman_list){ 0 };
}

void metadata_podman_fini(struct metadata_podman *podman)
{
	for (size_t i = 0; i < PODMAN_LISTS_MAX; i++)
		podman_list_fini(&podman->lists[i]);
}

static char *copy_text(const char *text)
{
	char clean[METADATA_FACT_BYTES];

	if (!text)
		return NULL;
	str_copy_utf8(clean, sizeof(clean), str_from(text));
	return strdup(clean);
}

/* Item = { id, names: [ name … ], metadata: text of { image-name, name } } */
static bool parse_item(const json_t *object, struct podman_item *ret_item)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	const char *name = json_string_value(json_array_get(json_object_get(object, "names"), 0));
	const char *text = json_string_value(json_object_get(object, "metadata"));
	_cleanup_(json_decrefp) json_t *metadata =
		text ? json_loadb(text, strlen(text), JSON_ALLOW_NUL, NULL) : NULL;

	if (!id || strlen(id) >= sizeof(ret_item->id))
		return false;
	*ret_item = (struct podman_item){ 0 };
	memcpy(ret_item->id, id, strlen(id));
	if (!name)
		name = json_string_value(json_object_get(metadata, "name"));
	ret_item->name = copy_text(name);
	ret_item->image = copy_text(json_string_value(json_object_get(metadata, "image-name")));
	return true;
}

int podman_list_parse(const json_t *containers, struct podman_list *list)
{
	size_t n = MIN_OF(json_array_size(containers), (size_t)METADATA_LIST_MAX);

	list_empty_items(list);
	if (n == 0)
		return 0;
	list->items = calloc(n, sizeof(list->items[0]));
	if (!list->items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (parse_item(json_array_get(containers, i), &list->items[list->n]))
			list->n++;
	return 0;
}

static void read_list(const struct metadata_files *files, struct podman_list *list)
{
	_cleanup_buf_ struct buf b = BUF_INIT(METADATA_LIST_MAX_BYTES);

	list_empty_items(list);
	if (metadata_read(files, list->path, &b, &list->stamp) < 0)
		return;
	_cleanup_(json_decrefp) json_t *containers =
		json_loadb(buf_str(&b), b.len, JSON_ALLOW_NUL, NULL);
	(void)podman_list_parse(containers, list);
}

static struct podman_list *keep_list(struct metadata_podman *podman, const char *path)
{
	for (size_t i = 0; i < PODMAN_LISTS_MAX; i++)
		if (podman->lists[i].path && strcmp(podman->lists[i].path, path) == 0)
			return &podman->lists[i];
	struct podman_list *list = &podman->lists[podman->next++ % PODMAN_LISTS_MAX];
	podman_list_fini(list);
	list->path = strdup(path);
	return list->path ? list : NULL;
}

/* NULL when there is no such file. */
static const struct podman_list *get_list(struct metadata_podman *podman,
					  const struct metadata_files *files, const char *path)
{
	static const struct metadata_stamp none;
	struct metadata_stamp stamp = metadata_stamp(files, path);

	if (metadata_stamp_equal(&stamp, &none))
		return NULL;
	struct podman_list *list = keep_list(podman, path);
	if (list && !metadata_stamp_equal(&list->stamp, &stamp))
		read_list(files, list);
	return list;
}

static bool look_in_list(struct metadata_podman *podman, struct metadata_look *look,
			 const char *path)
{
	const struct podman_list *list = get_list(podman, look->files, path);

	for (size_t i = 0; list && i < list->n; i++) {
		if (strcmp(list->items[i].id, look->id) != 0)
			continue;
		metadata_tell(look->page, METADATA_NAME, list->items[i].name);
		metadata_tell(look->page, METADATA_IMAGE, list->items[i].image);
		metadata_add_source(look, path, &list->stamp);
		look->page->settled = true;
		return true;
	}
	return false;
}

/* DRIVER-containers. A pod's container is called by its pod; the list has Kubernetes' long names. */
static bool look_at_containers(struct metadata_podman *podman, struct metadata_look *look,
			       const char *directory)
{
	char path[PATH_MAX + 32];
	bool found = metadata_oci_bundle(look, directory, "/userdata");

	if (look->page->text[METADATA_POD_CONTAINER])
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(list_names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, list_names[i]);
		if (look_in_list(podman, look, path))
			return true;
	}
	return found;
}

static bool look_at_driver(struct metadata_podman *podman, struct metadata_look *look,
			   const char *storage, const char *driver)
{
	char directory[PATH_MAX];
	int n = snprintf(directory, sizeof(directory), "%s/%s-containers", storage, driver);

	return n < (int)sizeof(directory) && look_at_containers(podman, look, directory);
}

static bool look_at_storage(struct metadata_podman *podman, struct metadata_look *look,
			    const char *storage)
{
	static const struct metadata_stamp none;
	struct metadata_stamp stamp = metadata_stamp(look->files, storage);

	if (metadata_stamp_equal(&stamp, &none))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (look_at_driver(podman, look, storage, drivers[i]))
			return true;
	return false;
}

/* A whole storage, or its directory of containers. */
static bool look_at_foreign(struct metadata_podman *podman, struct metadata_look *look,
			    const char *path,
			    bool (*look_there)(struct metadata_podman *podman,
					       struct metadata_look *look, const char *path))
{
	struct metadata_files_kept kept;

	metadata_begin_foreign(look, &kept);
	bool found = look_there(podman, look, path);
	metadata_end_foreign(look, &kept);
	return found;
}

void metadata_podman_look(struct metadata_podman *podman, struct metadata_look *look)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/.local/share/containers/storage", look->home);

	if (!metadata_may_be(look, "podman") && !metadata_may_be(look, "cri-o"))
		return;
	if (look->home[0] && n < (int)sizeof(path) &&
	    look_at_foreign(podman, look, path, look_at_storage))
		return;
	if (look_at_storage(podman, look, "/var/lib/containers/storage"))
		return;
	if (look_at_storage(podman, look, "/run/containers/storage"))
		return;
	if (metadata_find_directory(look, "-containers", path))
		(void)look_at_foreign(podman, look, path, look_at_containers);
}
