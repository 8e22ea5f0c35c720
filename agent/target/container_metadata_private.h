/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the container metadata share, and nobody else.
 *
 * A look is one search for one container: each runtime's part adds what it finds to the page, and every file that was read to the sources,
 * by whose stamps it is known later whether there is something new. What was told first is believed.
 */
#ifndef XAGENT_AGENT_TARGET_CONTAINER_METADATA_PRIVATE_H
#define XAGENT_AGENT_TARGET_CONTAINER_METADATA_PRIVATE_H

#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/cgroup.h"
#include "agent/util/cleanup.h"
#include "agent/util/str.h"

/* One container's. Docker's are some 5 KiB and as much as its labels; an OCI runtime's 20 to 100 KiB, most of it system calls. */
#define METADATA_CONFIG_MAX_BYTES ((size_t)512 << 10)
/* All containers of a storage: some 700 bytes each. */
#define METADATA_LIST_MAX_BYTES ((size_t)2 << 20)
/* Entries of a directory that are looked at, and room for them. */
#define METADATA_LIST_MAX 16384
#define METADATA_NAMES_MAX_BYTES ((size_t)4 << 20)
/* A name or an image; the longest that Docker takes as an image's reference is 255, a label is cut at twice this. */
#define METADATA_FACT_BYTES 1024
/* Its own file, its pod's, and two lists. */
#define METADATA_SOURCES_MAX 4

enum metadata_fact {
	METADATA_NAME,
	METADATA_IMAGE,
	METADATA_NAMESPACE,
	METADATA_POD,
	METADATA_POD_CONTAINER,
	METADATA_POD_SERVICE_NAME,
	METADATA_COMPOSE_PROJECT,
	METADATA_COMPOSE_SERVICE,
	METADATA_SWARM_SERVICE,
	METADATA_FACT_MAX
};

struct metadata_page {
	char *text[METADATA_FACT_MAX]; /* owned; NULL: not told */
	bool settled;		       /* it was found, and more will not come */
};

void metadata_page_fini(struct metadata_page *page);
bool metadata_page_equal(const struct metadata_page *a, const struct metadata_page *b);
/* NULL and "" tell nothing. */
void metadata_tell(struct metadata_page *page, enum metadata_fact fact, const char *text);

struct metadata_word {
	const char *key;
	enum metadata_fact fact;
};

/* The strings of an object, as far as they are among the words; earlier words are asked first. */
void metadata_tell_words(struct metadata_page *page, const json_t *object,
			 const struct metadata_word *words, size_t n);

DEFINE_CLEANUP(DIR *, closedir);

/* A host's files, perhaps mounted elsewhere. Paths are absolute, of the host; links stay below its root. */
struct metadata_files {
	bool here;   /* ours */
	int root_fd; /* −1: there is no such root, so no file */
	int proc_fd; /* its /proc, with pids as we know them; −1: none */
	/* What is looked at is where a user wants it, and may be on a file system that does not answer: by readers (reader.h). */
	bool is_foreign;
	uint32_t pid; /* … for this process; 0: none is known */
};

struct metadata_stamp {
	uint64_t device, inode, size, mtime_ns, ctime_ns; /* all 0: not there */
};

/* root as container_metadata_new() takes it. */
void metadata_files_init(struct metadata_files *files, const char *root);
void metadata_files_fini(struct metadata_files *files);
/* The same files, to look at what is foreign among them. Borrows: it is not to be ended. */
struct metadata_files metadata_files_foreign(const struct metadata_files *files, uint32_t pid);
struct metadata_stamp metadata_stamp(const struct metadata_files *files, const char *path);
bool metadata_stamp_equal(const struct metadata_stamp *a, const struct metadata_stamp *b);
/* A regular file that `out` has room for, opened as foreign_file.h does it. 0 or -errno. */
int metadata_read(const struct metadata_files *files, const char *path, struct buf *out,
		  struct metadata_stamp *ret_stamp);
/* METADATA_LIST_MAX names of a directory at most, each with a NUL at its end, in no order. 0 or -errno. */
int metadata_names(const struct metadata_files *files, const char *path, struct buf *out);
/* Where the user lives; false when the user is not in the host's own list. */
bool metadata_home(const struct metadata_files *files, uint32_t uid,
		   char ret_home[static PATH_MAX]);

struct metadata_source {
	char *path; /* owned */
	struct metadata_stamp stamp;
	bool is_foreign;
};

struct metadata_look {
	const struct metadata_files *files;
	/* Of whom: the id is "" for a pod of which nothing else is known, and has hex digits and '-'
	 * only. */
	char id[CGROUP_CONTAINER_ID_MAX];
	char pod_uid[64];
	char runtime[16];
	uint32_t pid;	     /* one of its processes; 0: none is known */
	char home[PATH_MAX]; /* of the user whose container it is; "": the host's */
	struct metadata_page *page;
	struct metadata_source sources[METADATA_SOURCES_MAX];
	size_t n_sources;
};

/* Between these two what is looked at is foreign: below a user's home, or where a process has files mounted from. */
struct metadata_files_kept {
	const struct metadata_files *before;
	struct metadata_files foreign;
};
void metadata_begin_foreign(struct metadata_look *look, struct metadata_files_kept *kept);
void metadata_end_foreign(struct metadata_look *look, const struct metadata_files_kept *kept);

void metadata_add_source(struct metadata_look *look, const char *path,
			 const struct metadata_stamp *stamp);
/* The file as JSON, made a source if it is there. NULL when it is not. */
json_t *metadata_load(struct metadata_look *look, const char *path);
/* Whether the runtime is this one, as far as the control group tells. */
bool metadata_may_be(const struct metadata_look *look, const char *runtime);

/* metadata_mounts.c: the directory, with a name ending in `suffix`, out of whose ID/ the container has files mounted. */
bool metadata_find_directory(const struct metadata_look *look, const char *suffix,
			     char ret_path[static PATH_MAX]);

/* metadata_outer.c: the files of the container that this one is in. False when it is the host's; else the caller ends ret_files. */
bool metadata_open_outer(const struct metadata_look *look, struct metadata_files *ret_files);

/* metadata_docker.c */
struct metadata_docker {
	struct metadata_stamp stamp; /* of its configuration */
	char data_root[PATH_MAX];    /* "": where it always is */
};
/* config.v2.json. False when it is not one. */
bool metadata_docker_parse(const json_t *config, struct metadata_page *page);
void metadata_docker_look(struct metadata_docker *docker, struct metadata_look *look);

/* metadata_oci.c */
/* config.json of a bundle. Its pod's sandbox, "" when it has none or is it. */
bool metadata_oci_parse(const json_t *config, struct metadata_page *page,
			char ret_sandbox[static CGROUP_CONTAINER_ID_MAX]);
/* One directory of bundles; format has one %s, for the id. True when it is there. */
bool metadata_oci_bundle(struct metadata_look *look, const char *directory, const char *below);
void metadata_containerd_look(struct metadata_look *look);

/* metadata_podman.c: containers.json, where names and images are. */
struct podman_item {
	char id[CGROUP_CONTAINER_ID_MAX];
	char *name, *image; /* owned, NULL when not told */
};
struct podman_list {
	char *path; /* owned; NULL: unused */
	struct metadata_stamp stamp;
	struct podman_item *items;
	size_t n;
};
/* Lists that are kept: of the host's storage and of two users'. */
#define PODMAN_LISTS_MAX 6
struct metadata_podman {
	struct podman_list lists[PODMAN_LISTS_MAX];
	size_t next; /* the one that makes room */
};
/* Replaces the list's items. */
int podman_list_parse(const json_t *containers, struct podman_list *list);
void podman_list_fini(struct podman_list *list);
void metadata_podman_fini(struct metadata_podman *podman);
void metadata_podman_look(struct metadata_podman *podman, struct metadata_look *look);

/* metadata_kube_logs.c: the names of the kubelet's log files. */
struct kube_log {
	char *text; /* owned; the others are pieces of it */
	const char *namespace, *pod;
	const char *container; /* NULL of a pod */
	const char *key;       /* container id, or pod UID */
};
struct kube_log_list {
	struct metadata_stamp stamp;
	struct kube_log *items;
	size_t n;
};
struct metadata_kube_logs {
	struct kube_log_list containers, pods;
};
/* POD_NAMESPACE_CONTAINER-ID.log; NAMESPACE_POD_UID. The caller frees ret_log->text. */
bool kube_log_parse_container(const char *name, struct kube_log *ret_log);
bool kube_log_parse_pod(const char *name, struct kube_log *ret_log);
void metadata_kube_logs_fini(struct metadata_kube_logs *logs);
void metadata_kube_logs_look(struct metadata_kube_logs *logs, struct metadata_look *look);

/* Of one root. All 0: nothing was read yet. */
struct metadata_readers {
	struct metadata_docker docker;
	struct metadata_podman podman;
	struct metadata_kube_logs kube_logs;
};

#endif
