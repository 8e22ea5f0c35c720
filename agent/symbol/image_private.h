/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the image share. */
#ifndef XAGENT_AGENT_SYMBOL_IMAGE_PRIVATE_H
#define XAGENT_AGENT_SYMBOL_IMAGE_PRIVATE_H

#include "agent/symbol/image.h"

bool image_is_readable(const struct image *image, const struct image_access *access);
/* What can be read at present, by the descriptors at hand: files of one content may be read in each other's place. */
struct function_files image_files(struct image *image, const struct image_options *options,
				  const struct image_access *access);
/* Asks for the server's file where that was not done. 0: it came now; IMAGE_NO_NAME, with *ret_is_pending set when it may come later;
 * -errno. */
int image_fetch(struct image *image, const struct image_options *options,
		const struct image_access *access, bool *ret_is_pending);

#endif
