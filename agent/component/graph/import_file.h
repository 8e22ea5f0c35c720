/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of import.file. Private to import*.c. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_IMPORT_FILE_H
#define XAGENT_AGENT_COMPONENT_GRAPH_IMPORT_FILE_H

#include "agent/component/graph/import.h"

struct import_file_args {
	const char *filename; /* or a directory */
	const char *detector;
	int64_t poll_frequency_ns;
};

#endif
