/* SPDX-License-Identifier: Apache-2.0 */
/* Components of Grafana Agent and Alloy that xagent does not have. Names as in their public reference documentation. */
#include "agent/component/unsupported.h"

#include <stddef.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

/* `names` are divided by blanks. */
static const struct {
	const char *family;
	const char *names;
} families[] = {
	{ "beyla", "ebpf" },
	{ "database_observability", "mysql postgres" },
	{ "discovery", "aws azure consul consulagent digitalocean dockerswarm ec2 eureka "
		       "gce hetzner ionos kuma lightsail linode marathon "
		       "nerve nomad openstack ovhcloud puppetdb remote_relabel scaleway "
		       "serverset triton uyuni" },
	{ "faro", "receiver" },
	{ "local", "file_match" },
	{ "loki", "echo enrich enricher process relabel rules.kubernetes secretfilter source.api "
		  "source.awsfirehose source.azure_event_hubs source.cloudflare source.docker "
		  "source.file source.gcplog source.gelf source.heroku source.journal "
		  "source.kafka source.kubernetes source.kubernetes_events source.podlogs "
		  "source.string source.syslog source.windowsevent write" },
	{ "mimir", "alerts.kubernetes rules.kubernetes" },
	{ "module", "file git http string" },
	{ "otelcol", "auth.azure auth.google auth.sigv4 connector.count connector.host_info connector.servicegraph "
		     "connector.signaltometrics connector.spanlogs connector.spanmetrics "
		     "encoding.jsonlog encoding.text exporter.awss3 exporter.azureblob "
		     "exporter.clickhouse exporter.datadog exporter.debug exporter.elasticsearch "
		     "exporter.faro exporter.file exporter.googlecloud exporter.googlecloudpubsub "
		     "exporter.kafka exporter.loadbalancing exporter.logging exporter.loki "
		     "exporter.opensearch exporter.prometheus "
		     "exporter.splunkhec exporter.syslog extension.jaeger_remote_sampling "
		     "processor.attributes processor.batch processor.cardinality_guardian "
		     "processor.cumulativetodelta processor.deltatocumulative processor.discovery "
		     "processor.filter processor.groupbyattrs processor.interval "
		     "processor.k8sattributes processor.memory_limiter processor.metric_start_time "
		     "processor.probabilistic_sampler processor.redaction "
		     "processor.resourcedetection processor.span processor.sql_fingerprint "
		     "processor.tail_sampling processor.transform receiver.awscloudwatch "
		     "receiver.awsecscontainermetrics receiver.awsfirehose receiver.awss3 "
		     "receiver.cloudflare receiver.datadog receiver.faro receiver.file_stats "
		     "receiver.filelog receiver.fluentforward receiver.github "
		     "receiver.googlecloudpubsub receiver.influxdb receiver.jaeger "
		     "receiver.k8s_workloads receiver.kafka receiver.kubernetes_rollouts "
		     "receiver.loki receiver.nginx receiver.opencensus "
		     "receiver.prometheus receiver.sdlc receiver.solace "
		     "receiver.splunkhec receiver.syslog receiver.tcplog receiver.vcenter "
		     "receiver.zipkin storage.file" },
	{ "prometheus",
	  "alertmanager.relay echo enrich exporter.agent exporter.apache exporter.azure "
	  "exporter.blackbox exporter.cadvisor exporter.catchpoint exporter.cloudwatch "
	  "exporter.consul exporter.databricks exporter.dnsmasq exporter.elasticsearch "
	  "exporter.gcp exporter.github exporter.ipmi exporter.kafka exporter.memcached "
	  "exporter.mongodb exporter.mssql exporter.mysql exporter.nvidiagpu "
	  "exporter.oracledb exporter.postgres exporter.process exporter.redis "
	  "exporter.self exporter.smartctl exporter.snmp exporter.snowflake "
	  "exporter.squid exporter.ssh exporter.static exporter.statsd exporter.tailscale "
	  "exporter.unix exporter.vsphere exporter.windows expose mapping "
	  "operator.podmonitors operator.probes operator.scrapeconfigs "
	  "operator.servicemonitors receive_http relabel remote.queue remote_write scrape "
	  "static write.queue" },
	{ "pyroscope", "enrich fsdump java profile.relabel" },
	{ "remote", "aws.secrets_manager kubernetes.configmap kubernetes.secret s3 vault" },
};

static bool has_name(const char *names, struct str name)
{
	struct str rest = str_from(names);
	struct str piece;

	while (str_split(&rest, ' ', &piece))
		if (str_eq(piece, name))
			return true;
	return false;
}

bool component_is_known_elsewhere(const char *name)
{
	struct str rest = str_from(name);
	struct str family;

	if (!str_split(&rest, '.', &family))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (str_eq(str_from(families[i].family), family))
			return has_name(families[i].names, rest);
	return false;
}
