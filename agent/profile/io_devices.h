/* SPDX-License-Identifier: Apache-2.0 */
/* What disks are called. */
#ifndef XAGENT_AGENT_PROFILE_IO_DEVICES_H
#define XAGENT_AGENT_PROFILE_IO_DEVICES_H

#include <stddef.h>
#include <stdint.h>

/* DISK_NAME_LEN, include/linux/blkdev.h; and "511:1048575" */
#define IO_DEVICE_NAME_BYTES 32
/* Those that are asked for again and again; others are looked up each time. */
#define IO_DEVICES_MAX 64

struct io_device {
	uint32_t major, minor;
	char name[IO_DEVICE_NAME_BYTES]; /* "": none is here */
};

/* Zero: empty. */
struct io_devices {
	struct io_device items[IO_DEVICES_MAX];
};

/* "sda"; its numbers ("8:0") where it has gone, or sysfs cannot be seen. `dir` is /sys/dev/block. Valid until the next call. */
const char *io_devices_name(struct io_devices *d, const char *dir, uint32_t major, uint32_t minor);
/* Another disk may get the numbers of one that has gone. */
void io_devices_forget(struct io_devices *d);

#endif
