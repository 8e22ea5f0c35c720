/* SPDX-License-Identifier: Apache-2.0 */
/* The program. Everything but this file is in archives, so that tests link what runs. */
#include "agent/cli/cli.h"
#include "agent/dwarf/server.h"

int main(int argc, char **argv)
{
	if (dwarf_server_is_meant(argc, argv))
		dwarf_server_run();
	return cli_main(argc, argv);
}
