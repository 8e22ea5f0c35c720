/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the path of an executable (up to the first NUL) and its arguments. */
#include <assert.h>
#include <stdint.h>

#include "agent/process/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A piece of the arguments, of which no byte is a NUL. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str arguments = { (const char *)data, size }, exe, name;

	if (size == 0 || !str_split(&arguments, '\0', &exe) || !arguments.p)
		return 0;
	(void)script_is_helper(arguments);
	name = script_find(exe, arguments);
	assert(name.n <= SCRIPT_NAME_MAX);
	if (name.n == 0)
		return 0;
	assert(name.p >= arguments.p && name.p + name.n < arguments.p + arguments.n);
	assert(strnlen(name.p, name.n) == name.n);
	return 0;
}
