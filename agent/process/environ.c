/* SPDX-License-Identifier: Apache-2.0 */
/* What a process's environment says about who it is. */
#include "agent/process/environ.h"

#include "agent/util/macro.h"

/* X(variable): all that is looked at. */
#define VARIABLES(X)                 \
	X(OTEL_SERVICE_NAME)         \
	X(OTEL_RESOURCE_ATTRIBUTES)  \
	X(KUBERNETES_SERVICE_HOST)   \
	X(POD_NAMESPACE)             \
	X(MY_POD_NAMESPACE)          \
	X(KUBERNETES_NAMESPACE)      \
	X(POD_NAME)                  \
	X(MY_POD_NAME)               \
	X(KUBERNETES_POD_NAME)       \
	X(CONTAINER_NAME)            \
	X(MY_CONTAINER_NAME)         \
	X(KUBERNETES_CONTAINER_NAME) \
	X(NOMAD_NAMESPACE)           \
	X(NOMAD_JOB_NAME)            \
	X(NOMAD_GROUP_NAME)          \
	X(NOMAD_TASK_NAME)

enum variable {
#define VARIABLE_ENUM(name) VARIABLE_##name,
	VARIABLES(VARIABLE_ENUM)
#undef VARIABLE_ENUM
		VARIABLE_MAX
};

struct attribute {
	struct str key;
	size_t at; /* of struct environ_texts */
};

/* deployment.environment has been renamed; either is fine. */
static const struct attribute attributes[] = {
	{ { "service.name", 12 }, offsetof(struct environ_texts, otel_attribute_service) },
	{ { "service.namespace", 17 }, offsetof(struct environ_texts, otel_service_namespace) },
	{ { "deployment.environment", 22 }, offsetof(struct environ_texts, otel_deployment) },
	{ { "deployment.environment.name", 27 }, offsetof(struct environ_texts, otel_deployment) },
	{ { "k8s.namespace.name", 18 }, offsetof(struct environ_texts, kubernetes_namespace) },
	{ { "k8s.pod.name", 12 }, offsetof(struct environ_texts, kubernetes_pod) },
	{ { "k8s.container.name", 18 }, offsetof(struct environ_texts, kubernetes_container) },
};

static void keep_variable(struct str values[VARIABLE_MAX], struct str name, struct str value)
{
	static const struct str names[] = {
#define VARIABLE_NAME(name) { #name, sizeof(#name) - 1 },
		VARIABLES(VARIABLE_NAME)
#undef VARIABLE_NAME
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!values[i].p && str_eq(names[i], name))
			values[i] = value;
}

static void find_variables(struct str environment, struct str values[VARIABLE_MAX])
{
	struct str entry, name;

	while (environment.n > 0 && environment.p[environment.n - 1])
		environment.n--;
	while (str_split(&environment, '\0', &entry))
		/* What is left of the entry is its value. Without a '=' it is none. */
		if (str_split(&entry, '=', &name) && entry.p)
			keep_variable(values, name, str_trim(entry));
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "%2C" is ','. What is no such code stays as it is. Returns how many bytes fitted. */
static size_t percent_decode(struct str s, char *dst, size_t dst_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n && n < dst_bytes; i++) {
		int high = s.p[i] == '%' && i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(s.p[i + 2]) : -1;

		dst[n++] = low < 0 ? s.p[i] : (char)(high << 4 | low);
		i += low < 0 ? 0 : 2;
	}
	return n;
}

static void keep_attribute(struct environ_texts *t, struct str key, struct str value)
{
	char decoded[ENVIRON_TEXT_MAX];
	struct str text = { decoded, percent_decode(value, decoded, sizeof(decoded)) };

	if (text.n == 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (str_eq(attributes[i].key, key))
			str_copy_utf8((char *)t + attributes[i].at, ENVIRON_TEXT_MAX, text);
}

/* key=value,key=value */
static void read_attributes(struct str list, struct environ_texts *t)
{
	struct str pair, key;

	while (str_split(&list, ',', &pair))
		if (str_split(&pair, '=', &key) && pair.p)
			keep_attribute(t, str_trim(key), str_trim(pair));
}

/* The first of n variables that is there, unless the text is known already. */
static void fill(char *text, const struct str *values, size_t n)
{
	for (size_t i = 0; i < n && !text[0]; i++)
		str_copy_utf8(text, ENVIRON_TEXT_MAX, values[i]);
}

void environ_parse(struct str environment, struct environ_texts *ret_texts)
{
	struct str values[VARIABLE_MAX] = { 0 };

	*ret_texts = (struct environ_texts){ 0 };
	find_variables(environment, values);
	fill(ret_texts->otel_service, &values[VARIABLE_OTEL_SERVICE_NAME], 1);
	read_attributes(values[VARIABLE_OTEL_RESOURCE_ATTRIBUTES], ret_texts);
	if (values[VARIABLE_KUBERNETES_SERVICE_HOST].n > 0) {
		fill(ret_texts->kubernetes_namespace, &values[VARIABLE_POD_NAMESPACE], 3);
		fill(ret_texts->kubernetes_pod, &values[VARIABLE_POD_NAME], 3);
		fill(ret_texts->kubernetes_container, &values[VARIABLE_CONTAINER_NAME], 3);
	}
	fill(ret_texts->nomad_namespace, &values[VARIABLE_NOMAD_NAMESPACE], 1);
	fill(ret_texts->nomad_job, &values[VARIABLE_NOMAD_JOB_NAME], 1);
	fill(ret_texts->nomad_group, &values[VARIABLE_NOMAD_GROUP_NAME], 1);
	fill(ret_texts->nomad_task, &values[VARIABLE_NOMAD_TASK_NAME], 1);
}
