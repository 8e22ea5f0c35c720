/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the container book share, and nobody else.
 *
 * A look is one search for one container: each runtime's part adds what it finds to the page, and every file that was read to the sources,
 * by whose stamps it is known later whether there is something new. What was told first is believed.
 */
#ifndef XAGENT_AGENT_TARGET_CONTAINER_BOOK_PRIVATE_H
#define XAGENT_AGENT_TARGET_CONTAINER_BOOK_PRIVATE_H

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
#define BOOK_CONFIG_MAX_BYTES ((size_t)512 << 10)
/* All containers of a storage: some 700 bytes each. */
#define BOOK_LIST_MAX_BYTES ((size_t)2 << 20)
/* Entries of a directory that are looked at, and room for them. */
#define BOOK_LIST_MAX 16384
#define BOOK_NAMES_MAX_BYTES ((size_t)4 << 20)
/* A name or an image; the longest that Docker takes as an image's reference is 255, a label is cut at twice this. */
#define BOOK_FACT_BYTES 1024
/* Its own file, its pod's, and two lists. */
#define BOOK_SOURCES_MAX 4

enum book_fact {
	BOOK_NAME,
	BOOK_IMAGE,
	BOOK_NAMESPACE,
	BOOK_POD,
	BOOK_POD_CONTAINER,
	BOOK_POD_SERVICE_NAME,
	BOOK_COMPOSE_PROJECT,
	BOOK_COMPOSE_SERVICE,
	BOOK_SWARM_SERVICE,
	BOOK_FACT_MAX
};

struct book_page {
	char *text[BOOK_FACT_MAX]; /* owned; NULL: not told */
	bool settled;		   /* it was found, and more will not come */
};

void book_page_fini(struct book_page *page);
bool book_page_equal(const struct book_page *a, const struct book_page *b);
/* NULL and "" tell nothing. */
void book_tell(struct book_page *page, enum book_fact fact, const char *text);

struct book_word {
	const char *key;
	enum book_fact fact;
};

/* The strings of an object, as far as they are among the words; earlier words are asked first. */
void book_tell_words(struct book_page *page, const json_t *object, const struct book_word *words,
		     size_t n);

DEFINE_CLEANUP(DIR *, closedir);

/* A host's files, perhaps mounted elsewhere. Paths are absolute, of the host; links stay below its root. */
struct book_files {
	bool here;   /* ours */
	int root_fd; /* −1: there is no such root, so no file */
	int proc_fd; /* its /proc, with pids as we know them; −1: none */
	/* What is looked at is where a user wants it, and may be on a file system that does not answer: by readers (reader.h). */
	bool is_foreign;
	uint32_t pid; /* … for this process; 0: none is known */
};

struct book_stamp {
	uint64_t device, inode, size, mtime_ns, ctime_ns; /* all 0: not there */
};

/* root as container_book_new() takes it. */
void book_files_init(struct book_files *files, const char *root);
void book_files_fini(struct book_files *files);
/* The same files, to look at what is foreign among them. Borrows: it is not to be ended. */
struct book_files book_files_foreign(const struct book_files *files, uint32_t pid);
struct book_stamp book_stamp(const struct book_files *files, const char *path);
bool book_stamp_equal(const struct book_stamp *a, const struct book_stamp *b);
/* A regular file that `out` has room for, opened as foreign_file.h does it. 0 or -errno. */
int book_read(const struct book_files *files, const char *path, struct buf *out,
	      struct book_stamp *ret_stamp);
/* BOOK_LIST_MAX names of a directory at most, each with a NUL at its end, in no order. 0 or -errno. */
int book_names(const struct book_files *files, const char *path, struct buf *out);
/* Where the user lives; false when the user is not in the host's own list. */
bool book_home(const struct book_files *files, uint32_t uid, char ret_home[static PATH_MAX]);

struct book_source {
	char *path; /* owned */
	struct book_stamp stamp;
	bool is_foreign;
};

struct book_look {
	const struct book_files *files;
	/* Of whom: the id is "" for a pod of which nothing else is known, and has hex digits and '-'
	 * only. */
	char id[CGROUP_CONTAINER_ID_MAX];
	char pod_uid[64];
	char runtime[16];
	uint32_t pid;	     /* one of its processes; 0: none is known */
	char home[PATH_MAX]; /* of the user whose container it is; "": the host's */
	struct book_page *page;
	struct book_source sources[BOOK_SOURCES_MAX];
	size_t n_sources;
};

/* Between these two what is looked at is foreign: below a user's home, or where a process has files mounted from. */
struct book_files_kept {
	const struct book_files *before;
	struct book_files foreign;
};
void book_begin_foreign(struct book_look *look, struct book_files_kept *kept);
void book_end_foreign(struct book_look *look, const struct book_files_kept *kept);

void book_add_source(struct book_look *look, const char *path, const struct book_stamp *stamp);
/* The file as JSON, made a source if it is there. NULL when it is not. */
json_t *book_load(struct book_look *look, const char *path);
/* Whether the runtime is this one, as far as the control group tells. */
bool book_may_be(const struct book_look *look, const char *runtime);

/* book_mounts.c: the directory, with a name ending in `suffix`, out of whose ID/ the container has files mounted. */
bool book_find_directory(const struct book_look *look, const char *suffix,
			 char ret_path[static PATH_MAX]);

/* book_outer.c: the files of the container that this one is in. False when it is the host's; else the caller ends ret_files. */
bool book_open_outer(const struct book_look *look, struct book_files *ret_files);

/* book_docker.c */
struct book_docker {
	struct book_stamp stamp;  /* of its configuration */
	char data_root[PATH_MAX]; /* "": where it always is */
};
/* config.v2.json. False when it is not one. */
bool book_docker_parse(const json_t *config, struct book_page *page);
void book_docker_look(struct book_docker *docker, struct book_look *look);

/* book_oci.c */
/* config.json of a bundle. Its pod's sandbox, "" when it has none or is it. */
bool book_oci_parse(const json_t *config, struct book_page *page,
		    char ret_sandbox[static CGROUP_CONTAINER_ID_MAX]);
/* One directory of bundles; format has one %s, for the id. True when it is there. */
bool book_oci_bundle(struct book_look *look, const char *directory, const char *below);
void book_containerd_look(struct book_look *look);

/* book_podman.c: containers.json, where names and images are. */
struct podman_item {
	char id[CGROUP_CONTAINER_ID_MAX];
	char *name, *image; /* owned, NULL when not told */
};
struct podman_list {
	char *path; /* owned; NULL: unused */
	struct book_stamp stamp;
	struct podman_item *items;
	size_t n;
};
/* Lists that are kept: of the host's storage and of two users'. */
#define PODMAN_LISTS_MAX 6
struct book_podman {
	struct podman_list lists[PODMAN_LISTS_MAX];
	size_t next; /* the one that makes room */
};
/* Replaces the list's items. */
int podman_list_parse(const json_t *containers, struct podman_list *list);
void podman_list_fini(struct podman_list *list);
void book_podman_fini(struct book_podman *podman);
void book_podman_look(struct book_podman *podman, struct book_look *look);

/* book_kube_logs.c: the names of the kubelet's log files. */
struct kube_log {
	char *text; /* owned; the others are pieces of it */
	const char *namespace, *pod;
	const char *container; /* NULL of a pod */
	const char *key;       /* container id, or pod UID */
};
struct kube_log_list {
	struct book_stamp stamp;
	struct kube_log *items;
	size_t n;
};
struct book_kube_logs {
	struct kube_log_list containers, pods;
};
/* POD_NAMESPACE_CONTAINER-ID.log; NAMESPACE_POD_UID. The caller frees ret_log->text. */
bool kube_log_parse_container(const char *name, struct kube_log *ret_log);
bool kube_log_parse_pod(const char *name, struct kube_log *ret_log);
void book_kube_logs_fini(struct book_kube_logs *logs);
void book_kube_logs_look(struct book_kube_logs *logs, struct book_look *look);

/* Of one root. All 0: nothing was read yet. */
struct book_readers {
	struct book_docker docker;
	struct book_podman podman;
	struct book_kube_logs kube_logs;
};

#endif
