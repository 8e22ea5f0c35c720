/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kubelet's log files are called: /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log (links), and directories
 * /var/log/pods/NAMESPACE_POD_UID. None of the names has a '_' in it. They are of every runtime, but come a moment after the container.
 */
#include <string.h>

#include "agent/target/container_metadata_private.h"
#include "agent/util/clock.h"

#define CONTAINERS_DIRECTORY "/var/log/containers"
#define PODS_DIRECTORY "/var/log/pods"
#define HEX_ID 64
/* What was made within a tick of the kernel's clock (at most 10 ms) has the same time as the directory read before it. */
#define STAMP_GRAIN_NS (20 * NS_PER_MS)

/* Cuts `text` at the last of `sep`; what is after it, NULL when there is none or a side is empty. */
static char *cut_last(char *text, char sep)
{
	char *at = strrchr(text, sep);

	if (!at || at == text || !at[1])
		return NULL;
	*at = '\0';
	return at + 1;
}

static char *copy_name(const char *name)
{
	size_t bytes = strlen(name) * 3 + 1; /* U+FFFD is three bytes */
	char *text = malloc(bytes);

	if (text)
		str_copy_utf8(text, bytes, str_from(name));
	return text;
}

/* pieces[0] "_" pieces[1] "_" pieces[2], cut apart in place. */
static bool cut_three(char *text, char *pieces[3])
{
	pieces[0] = text;
	pieces[2] = cut_last(text, '_');
	pieces[1] = pieces[2] ? cut_last(text, '_') : NULL;
	return pieces[1] && !strchr(pieces[0], '_');
}

bool kube_log_parse_container(const char *name, struct kube_log *ret_log)
{
	_cleanup_free_ char *text = copy_name(name);
	char *piece[3];

	if (!text || !str_ends_with(str_from(text), STR_LIT(".log")))
		return false;
	text[strlen(text) - strlen(".log")] = '\0';
	char *id = cut_last(text, '-');
	if (!id || strlen(id) != HEX_ID || strspn(id, "0123456789abcdef") != HEX_ID ||
	    !cut_three(text, piece))
		return false;
	*ret_log = (struct kube_log){ .text = TAKE_PTR(text),
				      .pod = piece[0],
				      .namespace = piece[1],
				      .container = piece[2],
				      .key = id };
	return true;
}

bool kube_log_parse_pod(const char *name, struct kube_log *ret_log)
{
	_cleanup_free_ char *text = copy_name(name);
	char *piece[3];

	if (!text || !cut_three(text, piece) ||
	    strlen(piece[2]) != strspn(piece[2], "0123456789abcdef-"))
		return false;
	*ret_log = (struct kube_log){
		.text = TAKE_PTR(text), .namespace = piece[0], .pod = piece[1], .key = piece[2]
	};
	return true;
}

static void list_fini(struct kube_log_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i].text);
	free(list->items);
	*list = (struct kube_log_list){ 0 };
}

void metadata_kube_logs_fini(struct metadata_kube_logs *logs)
{
	list_fini(&logs->containers);
	list_fini(&logs->pods);
}

static int add(struct kube_log_list *list, size_t *cap, const struct kube_log *log)
{
	if (list->n == *cap) {
		size_t more = *cap ? 2 * *cap : 64;
		struct kube_log *items = reallocarray(list->items, more, sizeof(items[0]));

		if (!items)
			return -ENOMEM;
		list->items = items;
		*cap = more;
	}
	list->items[list->n++] = *log;
	return 0;
}

typedef bool (*parse_fn)(const char *name, struct kube_log *ret_log);

static void read_names(struct kube_log_list *list, const struct metadata_files *files,
		       const char *path, parse_fn parse)
{
	_cleanup_buf_ struct buf names = BUF_INIT(METADATA_NAMES_MAX_BYTES);
	size_t cap = 0;

	(void)metadata_names(files, path, &names);
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1) {
		struct kube_log log;

		if (parse(names.data + at, &log) && add(list, &cap, &log) < 0)
			free(log.text);
	}
}

/* The directory is read again when it has changed; a stamp that may still be that of another change is not kept. */
static void refresh(struct kube_log_list *list, const struct metadata_files *files,
		    const char *path, parse_fn parse)
{
	uint64_t now_ns = clock_real_ns();
	struct metadata_stamp stamp = metadata_stamp(files, path);

	if (metadata_stamp_equal(&stamp, &list->stamp))
		return;
	list_fini(list);
	read_names(list, files, path, parse);
	if (stamp.mtime_ns + STAMP_GRAIN_NS < now_ns)
		list->stamp = stamp;
}

static const struct kube_log *find(const struct kube_log_list *list, const char *key)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i].key, key) == 0)
			return &list->items[i];
	return NULL;
}

static void tell(struct metadata_page *page, const struct kube_log *log)
{
	if (!log)
		return;
	metadata_tell(page, METADATA_NAMESPACE, log->namespace);
	metadata_tell(page, METADATA_POD, log->pod);
	metadata_tell(page, METADATA_POD_CONTAINER, log->container);
}

/* A container is complete by its own name, a pod by its directory's. */
void metadata_kube_logs_look(struct metadata_kube_logs *logs, struct metadata_look *look)
{
	struct metadata_page *page = look->page;

	if (look->id[0] && !page->text[METADATA_POD_CONTAINER] && !page->settled) {
		refresh(&logs->containers, look->files, CONTAINERS_DIRECTORY,
			kube_log_parse_container);
		tell(page, find(&logs->containers, look->id));
		page->settled = page->text[METADATA_POD_CONTAINER];
	}
	if (look->pod_uid[0] && !page->text[METADATA_POD]) {
		refresh(&logs->pods, look->files, PODS_DIRECTORY, kube_log_parse_pod);
		tell(page, find(&logs->pods, look->pod_uid));
		page->settled = page->settled || (!look->id[0] && page->text[METADATA_POD]);
	}
}
