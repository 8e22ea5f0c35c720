/* SPDX-License-Identifier: Apache-2.0 */
/* How far a feature has come, as --stability.level spells it. */
#include "agent/component/component.h"

#include <string.h>

const char *stability_text(enum stability stability)
{
	return river_stability_name((enum river_stability)stability);
}

bool stability_parse(const char *text, enum stability *ret_stability)
{
	for (int i = 0; i < STABILITY_MAX; i++) {
		if (strcmp(stability_text((enum stability)i), text) != 0)
			continue;
		*ret_stability = (enum stability)i;
		return true;
	}
	return false;
}
