/* SPDX-License-Identifier: Apache-2.0 */
/* What disks are called: sysfs has a link for each pair of numbers, whose last part is the name. */
#include "agent/profile/io_devices.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/util/str.h"

static void look_up(struct io_device *d, const char *dir)
{
	char path[PATH_MAX], link[PATH_MAX];
	const char *last = "";

	(void)snprintf(path, sizeof(path), "%s/%" PRIu32 ":%" PRIu32, dir, d->major, d->minor);
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = '\0';
		last = strrchr(link, '/') ? strrchr(link, '/') + 1 : link;
	}
	if (*last)
		str_copy_utf8(d->name, sizeof(d->name), str_from(last));
	else
		(void)snprintf(d->name, sizeof(d->name), "%" PRIu32 ":%" PRIu32, d->major,
			       d->minor);
}

const char *io_devices_name(struct io_devices *d, const char *dir, uint32_t major, uint32_t minor)
{
	struct io_device *at = &d->items[(minor + major * 7) % IO_DEVICES_MAX];

	if (*at->name && at->major == major && at->minor == minor)
		return at->name;
	at->major = major;
	at->minor = minor;
	look_up(at, dir);
	return at->name;
}

void io_devices_forget(struct io_devices *d)
{
	for (size_t i = 0; i < IO_DEVICES_MAX; i++)
		d->items[i].name[0] = '\0';
}
