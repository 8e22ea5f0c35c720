/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs run scripts, and how each reads its arguments. Private to script*.c. */
#ifndef XAGENT_AGENT_PROCESS_SCRIPT_INTERPRETERS_H
#define XAGENT_AGENT_PROCESS_SCRIPT_INTERPRETERS_H

#include <stdbool.h>

#include "agent/util/str.h"

/* How a name is cut out of the argument that holds it. */
enum script_form {
	SCRIPT_FILE,   /* the file's name */
	SCRIPT_MODULE, /* as it is */
	SCRIPT_CLASS,  /* behind the last '/' and '.'; or a source file */
};

/*
 * Options are told from each other by how much of the command line they take. Lists of words are separated by blanks. A letter of an option
 * of one dash may stand among others ("-Bu"): what is in no list stands alone.
 */
struct script_interpreter {
	const char *names;     /* a version may follow: "python" is also python3.11 */
	const char *commands;  /* before the script: "run" of `deno run app.ts` */
	const char *no_script; /* first words with which there is none: `deno repl` */
	const char *values;    /* options with a value in the next argument */
	const char *stops;     /* options after which there is no script: code, standard input */
	const char *named;     /* options whose value is what is looked for, of form named_form */
	const char *files;     /* … and of these it is a file */
	const char *value_letters; /* letters whose value is the rest, or the next argument */
	const char *rest_letters;  /* letters whose value, if there is one, is the rest */
	const char *stop_letters;
	const char
		*name_letters; /* the rest, or the next argument, is the name, of form named_form */
	const char *file_letters; /* … is the file */
	const char *suffixes;	  /* of files that are taken; NULL: any */
	enum script_form form;	  /* of the first argument that is no option */
	enum script_form named_form;
	bool single_dash; /* an option is one word, however many dashes it has: no letters */
	bool plus;	  /* "+x" is an option, too */
	bool titles; /* programs of it write their names over their arguments: "gunicorn: master" */
};

/* By the file's name; NULL: runs no scripts. */
const struct script_interpreter *script_interpreter_find(struct str name);

/* Whether `word` is one of the words of the list; `list` may be NULL. */
bool script_word_in(const char *list, struct str word);

#endif
