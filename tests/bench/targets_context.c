/* SPDX-License-Identifier: Apache-2.0 */
/* A host for the bench of targets. */
#include "tests/bench/targets_context.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/util/hash.h"

#define TEXT_BYTES ((size_t)N_CONTAINERS * 1000)

static void container_id(uint32_t i, char id[65])
{
	for (unsigned int k = 0; k < 8; k++)
		(void)snprintf(id + 8 * k, 9, "%08x", (unsigned int)hash_u64(i * 8 + k));
}

static const char head[] = "discovery.process \"p\" {\n\tjoin = [\n";
/* What Docker's discovery tells of a container that compose has started. */
static const char target[] =
	"\t\t{\"__meta_docker_container_id\" = \"%s\", \"__address__\" = \"10.1.2.3:8080\", "
	"\"__meta_docker_container_name\" = \"/project-service%u-1\", "
	"\"__meta_docker_container_network_mode\" = \"project_default\", "
	"\"__meta_docker_container_label_com_docker_compose_project\" = \"project\", "
	"\"__meta_docker_container_label_com_docker_compose_service\" = \"service%u\", "
	"\"__meta_docker_network_name\" = \"project_default\", "
	"\"__meta_docker_network_ip\" = \"10.1.2.3\", \"__meta_docker_port_private\" = "
	"\"8080\"},\n";
static const char tail[] =
	"\t]\n}\n"
	"discovery.relabel \"r\" {\n"
	"\ttargets = discovery.process.p.targets\n"
	"\trule {\n\t\tsource_labels = [\"__meta_docker_container_name\"]\n"
	"\t\tregex = \"/(.*)-[0-9]+\"\n\t\ttarget_label = \"service_name\"\n\t}\n"
	"\trule {\n\t\tsource_labels = [\"__meta_docker_network_name\"]\n"
	"\t\ttarget_label = \"network\"\n\t}\n"
	"\trule {\n\t\tsource_labels = [\"__meta_process_exe\"]\n"
	"\t\tregex = \".*/pause\"\n\t\taction = \"drop\"\n\t}\n"
	"}\n"
	"pyroscope.ebpf \"e\" {\n"
	"\tforward_to = [pyroscope.write.w.receiver]\n"
	"\ttargets = discovery.relabel.r.output\n"
	"}\n"
	"pyroscope.write \"w\" {\n\tendpoint {\n\t\turl = \"http://127.0.0.1:1\"\n\t}\n}\n";

char *context_text(void)
{
	char *text = malloc(TEXT_BYTES);
	size_t len = text ? (size_t)snprintf(text, TEXT_BYTES, "%s", head) : 0;

	for (uint32_t i = 0; text && i < N_CONTAINERS; i++) {
		char id[65];

		container_id(i, id);
		len += (size_t)snprintf(text + len, TEXT_BYTES - len, target, id, i, i % 400);
	}
	if (text)
		(void)snprintf(text + len, TEXT_BYTES - len, "%s", tail);
	return text;
}

static char *copy(const char *prefix, uint32_t n)
{
	char *text = NULL;

	return asprintf(&text, "%s%" PRIu32, prefix, n) < 0 ? NULL : text;
}

struct process *context_process(struct process_table *processes, uint32_t pid, uint64_t time_ns)
{
	struct process *p;

	process_table_apply(processes, &(struct process_event){ .kind = PROCESS_EVENT_FORK,
								.pid = pid,
								.parent_pid = 1,
								.time_ns = time_ns });
	p = process_table_find(processes, pid);
	if (!p)
		return NULL;
	p->identity = (struct process_identity){ .exe = copy("/usr/local/bin/service", pid % 400),
						 .comm = copy("service", pid % 400),
						 .cmdline = copy("service -listen :", pid),
						 .cwd = copy("/srv/", pid % 400),
						 .cgroup_path = copy("/system.slice/", pid),
						 .uid = 1000,
						 .complete = true };
	container_id(pid % N_CONTAINERS, p->identity.cgroup.container_id);
	p->identity_loaded = true;
	return p;
}
