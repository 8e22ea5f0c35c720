/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a list of target groups, in both formats: what is taken has its origin and can be written as JSON, what is refused has a
 * reason. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/discovery/target_groups.h"
#include "agent/discovery/yaml_json.h"

#define WHY_MAX_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct label origin = { "from", "here" };

static void check_list(const struct target_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (!labels_get(list->items[i], origin.name))
			abort();
}

static void read_groups(struct str text, enum target_groups_format format)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX_BYTES);
	int r = target_groups_read(text, format, &origin, &why, &list);

	if (r < 0 && r != -ENOMEM && why.len == 0)
		abort();
	if (r == 0)
		check_list(&list);
}

static void read_yaml(struct str text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX_BYTES);
	json_t *json = NULL;
	int r = yaml_to_json(text.p, text.n, &why, &json);
	char *written = r == 0 ? json_dumps(json, JSON_ENCODE_ANY) : NULL;

	if (r == 0 ? !written : why.len == 0)
		abort();
	free(written);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { size > 0 ? (const char *)data : "", size };

	read_groups(text, TARGET_GROUPS_JSON);
	read_groups(text, TARGET_GROUPS_YAML);
	read_yaml(text);
	return 0;
}
