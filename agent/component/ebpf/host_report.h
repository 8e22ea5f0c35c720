/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the host the agent cannot see: in the log, in health, in metrics and debug information, and for the support bundle. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_HOST_REPORT_H
#define XAGENT_AGENT_COMPONENT_EBPF_HOST_REPORT_H

#include "agent/process/host_view.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/buf.h"
#include "river-config/river.h"

/* This host, now. */
void host_report_read(struct host_view *ret_view);

/* A line for each finding: a warning where part of the host is hidden. */
void host_report_log(const struct host_view *v, const char *component_id);

/* Appends "part of this host is not seen: …" with the worst finding in full and the names of the others, or the names alone; nothing where
 * all is seen. */
void host_report_health(const struct host_view *v, bool in_full, struct buf *out);

/* xagent_host_view{finding=…}: 1 for what is found, 0 for the others. */
void host_report_metrics(const struct host_view *v, struct telemetry *t, const char *component_path,
			 const char *component_id);

/* { place, findings = [{ finding, missing, fix }] }, or NULL without memory. */
const struct river_value *host_report_value(const struct host_view *v, struct river_arena *arena);

/* Appends a line for each finding: "pid_namespace: MISSING; FIX". */
void host_report_text(const struct host_view *v, struct buf *out);

#endif
