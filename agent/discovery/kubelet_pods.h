/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kubelet answers about the pods of its node, as targets.
 *
 * It is asked every few seconds, answers with a megabyte, in another order each time, and hardly anything in it has changed. So the answer
 * is read as it arrives, a pod at a time, and a pod whose text is that of the last answer is not parsed again. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBELET_PODS_H
#define XAGENT_AGENT_DISCOVERY_KUBELET_PODS_H

#include "agent/target/target_list.h"
#include "agent/util/buf.h"

/* etcd keeps at most 1.5 MiB of one; usual ones have 10 KiB. */
#define KUBELET_MAX_POD_BYTES ((size_t)2 << 20)
/* Kubernetes is made for 110 a node; some run 500. */
#define KUBELET_MAX_PODS 10000
#define KUBELET_MAX_ANSWER_BYTES ((size_t)32 << 20)

/* Namespaces that count; n = 0: all. */
struct kubelet_namespaces {
	const char *const *names;
	size_t n;
};

struct kubelet_pods;

/* `namespaces` is borrowed as long as it lives. 0 or -ENOMEM. */
int kubelet_pods_new(const struct kubelet_namespaces *namespaces, struct kubelet_pods **ret_pods);
void kubelet_pods_free(struct kubelet_pods *p); /* NULL-safe */
DEFINE_CLEANUP(struct kubelet_pods *, kubelet_pods_free);

/* An answer begins; what came of the one before is forgotten unless it was ended. */
void kubelet_pods_begin(struct kubelet_pods *p);
/* A piece of it. 0, or -errno: no more of it is wanted; kubelet_pods_end() says why. */
int kubelet_pods_feed(struct kubelet_pods *p, const char *bytes, size_t n);
/*
 * It has ended: the targets in it, ordered by namespace and pod. 0, also with one line in `why` (pods that were left out); or -errno with
 * one: -EBADMSG (no list of pods), -E2BIG (more pods, targets or bytes than there may be), -ENOMEM.
 */
int kubelet_pods_end(struct kubelet_pods *p, struct buf *why, struct target_list *ret_list);

/* Pods of the answer under way, or of the last one, that had to be parsed. */
size_t kubelet_pods_n_parsed(const struct kubelet_pods *p);

#endif
