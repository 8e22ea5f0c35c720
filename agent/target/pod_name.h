/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of pods and containers that are another one the next time, and what stays of them: the names that people gave. A series for each
 * start of a container would be new series every day. Pure.
 */
#ifndef XAGENT_AGENT_TARGET_POD_NAME_H
#define XAGENT_AGENT_TARGET_POD_NAME_H

#include "agent/util/str.h"

/*
 * What made the pod, a piece of `pod` (borrowed); n is 0 when `pod` is empty:
 *
 *	checkout-7d9c5b8f6d-x2x7z	checkout	a Deployment's
 *	node-exporter-x2x7z		node-exporter	a DaemonSet's, a Job's
 *	backup-28412345-x2x7z		backup		a CronJob's
 *	postgres-0			postgres	a StatefulSet's
 *	web				web
 *
 * Kubernetes makes such parts of consonants and digits that resemble no others: "web-front" has no such part.
 */
struct str pod_workload_name(const char *pod);

/*
 * What a container is called without the part that is new with each start:
 *
 *	web				web
 *	/web				web		Docker's slash
 *	shop_web.2.x8qk…		shop_web	the second replica of a Swarm service; 25 letters and digits
 */
struct str container_service_name(const char *container);

#endif
