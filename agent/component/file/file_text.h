/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that an argument gives, or the file that another argument names; failures in the words of Go's os package. */
#ifndef XAGENT_AGENT_COMPONENT_FILE_FILE_TEXT_H
#define XAGENT_AGENT_COMPONENT_FILE_FILE_TEXT_H

#include "agent/util/buf.h"

/* Appends the file (the ceiling of `text` bounds it); 0, or -errno with "open PATH: no such file or directory" in `why`. Blocks on
 * nothing but a file system that hangs: pipes and devices are refused. */
int file_text_read(const char *path, struct buf *text, struct buf *why);

#endif
