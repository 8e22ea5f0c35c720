/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of components there are: one file and one line each. */
#ifndef XAGENT_AGENT_COMPONENT_KINDS_H
#define XAGENT_AGENT_COMPONENT_KINDS_H

#include "agent/component/component.h"

extern const struct component_kind discovery_dns_kind;
extern const struct component_kind discovery_docker_kind;
extern const struct component_kind discovery_file_kind;
extern const struct component_kind discovery_http_kind;
extern const struct component_kind discovery_kubelet_kind;
extern const struct component_kind discovery_kubernetes_kind;
extern const struct component_kind discovery_process_kind;
extern const struct component_kind discovery_relabel_kind;
extern const struct component_kind http_kind;
extern const struct component_kind livedebugging_kind;
extern const struct component_kind local_file_kind;
extern const struct component_kind logging_kind;
extern const struct component_kind otelcol_auth_basic_kind;
extern const struct component_kind otelcol_auth_bearer_kind;
extern const struct component_kind otelcol_auth_headers_kind;
extern const struct component_kind otelcol_auth_oauth2_kind;
extern const struct component_kind otelcol_exporter_otlp_kind;
extern const struct component_kind otelcol_exporter_otlphttp_kind;
extern const struct component_kind otelcol_receiver_otlp_kind;
extern const struct component_kind otelcol_receiver_pyroscope_kind;
extern const struct component_kind pyroscope_ebpf_kind;
extern const struct component_kind pyroscope_receive_http_kind;
extern const struct component_kind pyroscope_relabel_kind;
extern const struct component_kind pyroscope_scrape_kind;
extern const struct component_kind pyroscope_store_kind;
extern const struct component_kind pyroscope_write_kind;
extern const struct component_kind remote_http_kind;
extern const struct component_kind remotecfg_kind;
extern const struct component_kind tracing_kind;

#endif
