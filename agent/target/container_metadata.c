/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What container runtimes have written down about their containers.
 *
 * An entry is settled when its files were found: from then on only their stamps are looked at. One that is not is looked for again, soon
 * at first. What was known of a container whose files are gone stays: its last samples are still on their way.
 */
#include "agent/target/container_metadata.h"

#include <assert.h>
#include <string.h>

#include "agent/target/container_metadata_private.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"
#include "agent/util/macro.h"

/* After it was asked for first: a runtime writes its files before it starts a container, the kubelet its links after. */
static const uint64_t look_again_ns[] = { 200 * NS_PER_MS, 1 * NS_PER_S, 5 * NS_PER_S };

struct metadata_entry {
	struct hash_node node;
	struct list lru;
	char id[CGROUP_CONTAINER_ID_MAX], pod_uid[64], runtime[16];
	uint32_t uid; /* of the user whose container it is; 0: the host's */
	uint32_t pid; /* of the process that was asked for last */
	uint64_t first_ns;
	size_t n_looks;
	struct metadata_page page;
	struct container_facts facts; /* of the page */
	struct metadata_source sources[METADATA_SOURCES_MAX];
	size_t n_sources;
};

struct container_metadata {
	struct metadata_files files;
	struct hash_table by_key;
	struct list lru; /* the least recently asked for first */
	uint64_t due_ns; /* no entry is due before */
	struct metadata_readers readers;
};

int container_metadata_new(const char *root, struct container_metadata **ret_metadata)
{
	_cleanup_(container_metadata_freep) struct container_metadata *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	list_init(&b->lru);
	b->due_ns = UINT64_MAX;
	metadata_files_init(&b->files, root);
	*ret_metadata = TAKE_PTR(b);
	return 0;
}

static void free_sources(struct metadata_source *sources, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(sources[i].path);
}

static void forget(struct container_metadata *b, struct metadata_entry *e)
{
	hash_remove(&b->by_key, &e->node);
	list_remove(&e->lru);
	metadata_page_fini(&e->page);
	free_sources(e->sources, e->n_sources);
	free(e);
}

static void readers_fini(struct metadata_readers *r)
{
	metadata_podman_fini(&r->podman);
	metadata_kube_logs_fini(&r->kube_logs);
}

void container_metadata_free(struct container_metadata *b)
{
	if (!b)
		return;
	while (!list_empty(&b->lru))
		forget(b, LIST_ENTRY(b->lru.next, struct metadata_entry, lru));
	assert(b->by_key.n == 0);
	hash_fini(&b->by_key);
	readers_fini(&b->readers);
	metadata_files_fini(&b->files);
	free(b);
}

/* UserSlice = "user-" uid ".slice" */
static uint32_t uid_of_slice(const char *slice)
{
	struct str s = str_from(slice);
	uint64_t uid;

	if (!str_starts_with(s, STR_LIT("user-")))
		return 0;
	s = (struct str){ s.p + 5, s.n - 5 };
	if (str_scan_u64(&s, 10, UINT32_MAX, &uid) < 0 || !str_eq(s, STR_LIT(".slice")))
		return 0;
	return (uint32_t)uid;
}

/* What may stand in a path. */
static bool is_plain(const char *id)
{
	return strlen(id) == strspn(id, "0123456789abcdef-");
}

static const char *key_of(const char *id, const char *pod_uid)
{
	return id[0] ? id : pod_uid;
}

static struct metadata_entry *find(const struct container_metadata *b, const char *key)
{
	HASH_FOREACH_MATCH (&b->by_key, hash_str(key), node) {
		struct metadata_entry *e = CONTAINER_OF(node, struct metadata_entry, node);

		if (strcmp(key_of(e->id, e->pod_uid), key) == 0)
			return e;
	}
	return NULL;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static struct container_facts facts_of(const struct metadata_page *page)
{
	return (struct container_facts){
		.name = or_empty(page->text[METADATA_NAME]),
		.image = or_empty(page->text[METADATA_IMAGE]),
		.namespace = or_empty(page->text[METADATA_NAMESPACE]),
		.pod = or_empty(page->text[METADATA_POD]),
		.pod_container = or_empty(page->text[METADATA_POD_CONTAINER]),
		.pod_service_name = or_empty(page->text[METADATA_POD_SERVICE_NAME]),
		.compose_project = or_empty(page->text[METADATA_COMPOSE_PROJECT]),
		.compose_service = or_empty(page->text[METADATA_COMPOSE_SERVICE]),
		.swarm_service = or_empty(page->text[METADATA_SWARM_SERVICE]),
	};
}

static struct metadata_entry *add(struct container_metadata *b, const struct cgroup_facts *cgroup,
				  uint64_t now_ns)
{
	struct metadata_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	str_copy_utf8(e->id, sizeof(e->id), str_from(cgroup->container_id));
	str_copy_utf8(e->pod_uid, sizeof(e->pod_uid), str_from(cgroup->pod_uid));
	str_copy_utf8(e->runtime, sizeof(e->runtime), str_from(cgroup->runtime));
	e->uid = uid_of_slice(cgroup->slice);
	e->first_ns = now_ns;
	e->facts = facts_of(&e->page);
	if (hash_insert(&b->by_key, &e->node, hash_str(key_of(e->id, e->pod_uid))) < 0) {
		free(e);
		return NULL;
	}
	list_push_back(&b->lru, &e->lru);
	while (b->by_key.n > CONTAINER_METADATA_MAX)
		forget(b, LIST_ENTRY(b->lru.next, struct metadata_entry, lru));
	return e;
}

static uint64_t due_of(const struct metadata_entry *e)
{
	if (e->page.settled || e->n_looks == 0 || e->n_looks > ARRAY_SIZE(look_again_ns))
		return UINT64_MAX;
	return e->first_ns + look_again_ns[e->n_looks - 1];
}

static void ask_all(struct metadata_readers *r, struct metadata_look *look)
{
	if (look->id[0]) {
		metadata_docker_look(&r->docker, look);
		if (!look->page->settled)
			metadata_containerd_look(look);
		if (!look->page->settled)
			metadata_podman_look(&r->podman, look);
	}
	metadata_kube_logs_look(&r->kube_logs, look);
}

/* The container that this one is in. Its files are not ours to look at again: its root is only known while the process lives. */
static void ask_outer(struct metadata_look *look)
{
	_cleanup_(readers_fini) struct metadata_readers readers = { 0 };
	const struct metadata_files *files = look->files;
	struct metadata_files outer;

	if (look->page->settled || !look->id[0] || !metadata_open_outer(look, &outer))
		return;
	look->files = &outer;
	ask_all(&readers, look);
	look->files = files;
	free_sources(look->sources, look->n_sources);
	look->n_sources = 0;
	metadata_files_fini(&outer);
}

/* True when it tells something else than before. */
static bool look_at(struct container_metadata *b, struct metadata_entry *e)
{
	struct metadata_page page = { 0 };
	struct metadata_look look = { .files = &b->files, .page = &page, .pid = e->pid };

	memcpy(look.id, e->id, sizeof(look.id));
	memcpy(look.pod_uid, e->pod_uid, sizeof(look.pod_uid));
	memcpy(look.runtime, e->runtime, sizeof(look.runtime));
	if (e->uid)
		(void)metadata_home(&b->files, e->uid, look.home);
	ask_all(&b->readers, &look);
	ask_outer(&look);
	e->n_looks++;
	bool changed = !metadata_page_equal(&page, &e->page);
	metadata_page_fini(&e->page);
	free_sources(e->sources, e->n_sources);
	e->page = page;
	e->facts = facts_of(&e->page);
	memcpy(e->sources, look.sources, sizeof(e->sources));
	e->n_sources = look.n_sources;
	b->due_ns = MIN_OF(b->due_ns, due_of(e));
	return changed;
}

const struct container_facts *container_metadata_find(struct container_metadata *b,
						      const struct cgroup_facts *cgroup,
						      uint32_t pid, uint64_t now_ns)
{
	static const struct container_facts nothing = { "", "", "", "", "", "", "", "", "" };
	const char *key = key_of(cgroup->container_id, cgroup->pod_uid);

	if (!key[0] || !is_plain(cgroup->container_id) || !is_plain(cgroup->pod_uid))
		return &nothing;
	struct metadata_entry *e = find(b, key);
	if (!e)
		e = add(b, cgroup, now_ns);
	if (!e)
		return &nothing;
	list_remove(&e->lru);
	list_push_back(&b->lru, &e->lru);
	e->pid = pid ? pid : e->pid;
	if (e->n_looks == 0 || now_ns >= due_of(e))
		(void)look_at(b, e);
	return &e->facts;
}

/* Whether its files are others than those that were read. Gone ones are not asked for again. */
static bool sources_changed(const struct container_metadata *b, struct metadata_entry *e)
{
	static const struct metadata_stamp gone;
	bool changed = false;

	for (size_t i = 0; i < e->n_sources; i++) {
		struct metadata_files foreign = metadata_files_foreign(&b->files, e->pid);
		struct metadata_stamp now = metadata_stamp(
			e->sources[i].is_foreign ? &foreign : &b->files, e->sources[i].path);

		if (metadata_stamp_equal(&now, &gone)) {
			free_sources(e->sources, e->n_sources);
			e->n_sources = 0;
			return false;
		}
		changed = changed || !metadata_stamp_equal(&now, &e->sources[i].stamp);
	}
	return changed;
}

static bool is_wanted(const struct container_metadata *b, struct metadata_entry *e, uint64_t now_ns)
{
	if (e->page.settled)
		return sources_changed(b, e);
	return e->n_looks > ARRAY_SIZE(look_again_ns) || now_ns >= due_of(e);
}

bool container_metadata_refresh(struct container_metadata *b, uint64_t now_ns)
{
	bool changed = false;

	b->due_ns = UINT64_MAX;
	LIST_FOREACH (&b->lru, node) {
		struct metadata_entry *e = LIST_ENTRY(node, struct metadata_entry, lru);

		if (is_wanted(b, e, now_ns))
			changed |= look_at(b, e);
		b->due_ns = MIN_OF(b->due_ns, due_of(e));
	}
	return changed;
}

uint64_t container_metadata_due_ns(const struct container_metadata *b)
{
	return b->due_ns;
}
