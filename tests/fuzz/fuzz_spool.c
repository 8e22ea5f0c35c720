/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes behind the head of a segment → the records that are found → profiles: within bounds, and each place only once. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/push/spool/spool_scan.h"
#include "agent/util/file.h"

#define SEGMENT 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_profile(const struct push_profile *p, const struct spool_record *record)
{
	assert(p->bytes->n == record->n_profile_bytes);
	assert(p->n_labels <= PUSH_MAX_LABELS);
	for (size_t i = 0; i < p->n_labels; i++) {
		assert(strlen(p->labels[i].name) <= PUSH_MAX_LABEL_NAME_BYTES);
		assert(strlen(p->labels[i].value) <= PUSH_MAX_LABEL_VALUE_BYTES);
	}
}

static void read_place(const uint8_t *data, size_t size, const struct spool_place *place)
{
	struct push_profile *p = NULL;

	assert(place->offset + spool_place_bytes(place) <= size);
	if (spool_record_decode(&place->record, data + place->offset + SPOOL_HEAD_BYTES, &p) < 0)
		return;
	check_profile(p, &place->record);
	push_profile_unref(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool_found found = { 0 };
	int fd = memfd_create("segment", MFD_CLOEXEC);
	uint32_t last = 0;

	if (fd < 0 || file_write_fd(fd, data, size) < 0 ||
	    spool_scan_segment(fd, SEGMENT, size, &found) < 0)
		abort();
	for (size_t i = 0; i < found.n; i++) {
		assert(found.places[i].record.number > last);
		last = found.places[i].record.number;
		read_place(data, size, &found.places[i]);
	}
	spool_found_fini(&found);
	(void)close(fd);
	return 0;
}
