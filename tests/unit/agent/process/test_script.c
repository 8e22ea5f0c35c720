/* SPDX-License-Identifier: Apache-2.0 */
/* What interpreters run, by command lines as people write them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "agent/process/script.h"
#include "agent/util/macro.h"

/* `words`: with '|' between them; a '~' at the end stands for 4 NULs. */
struct row {
	const char *exe, *words, *expected;
};

#define PYTHON "/usr/bin/python3.11"
#define NODE "/usr/bin/node"
#define RUBY "/usr/bin/ruby3.1"
#define PERL "/usr/bin/perl"
#define PHP "/usr/bin/php8.2"
#define BASH "/usr/bin/bash"
#define JAVA "/usr/lib/jvm/java-17-openjdk-amd64/bin/java"
#define DOTNET "/usr/share/dotnet/dotnet"
#define DENO "/usr/local/bin/deno"
#define BUN "/usr/local/bin/bun"
#define R "/usr/lib/R/bin/exec/R"

static const struct row rows[] = {
	{ PYTHON, "python3|app.py", "app.py" },
	{ PYTHON, "python3|/srv/shop/app.py|--port|80", "app.py" },
	{ PYTHON, "/usr/bin/python3|./main.py", "main.py" },
	{ PYTHON, "python3|-u|app.py", "app.py" },
	{ PYTHON, "python3|-uBOOsSEI|app.py|-c|x", "app.py" },
	{ PYTHON, "python3|-W|ignore|-X|dev|app.py", "app.py" },
	{ PYTHON, "python3|-Wignore|-Xdev|app.py", "app.py" },
	{ PYTHON, "python3|-uW|error|app.py", "app.py" },
	{ PYTHON, "python3|--check-hash-based-pycs|always|app.py", "app.py" },
	{ PYTHON, "python3|-m|http.server|8000", "http.server" },
	{ PYTHON, "python3|-mhttp.server|8000", "http.server" },
	{ PYTHON, "python3|-um|gunicorn|app:app", "gunicorn" },
	{ PYTHON, "python3|-c|import time; time.sleep(9)|app.py", "" },
	{ PYTHON, "python3|-uc|print(1)", "" },
	{ PYTHON, "python3|-c|from multiprocessing.spawn import spawn_main|--multiprocessing-fork",
	  "" },
	{ PYTHON, "python3|-", "" },
	{ PYTHON, "python3|-|app.py", "" },
	{ PYTHON, "python3", "" },
	{ PYTHON, "python3|-i", "" },
	{ PYTHON, "python3|-V|app.py", "" },
	{ PYTHON, "python3|--|-odd.py", "-odd.py" },
	{ PYTHON, "/usr/bin/python3|/usr/bin/gunicorn|-w|4|app:app", "gunicorn" },
	{ PYTHON, "/opt/venv/bin/python|/opt/venv/bin/celery|-A|proj|worker", "celery" },
	{ PYTHON, "python3|/srv/shop/manage.py|runserver", "manage.py" },
	{ PYTHON, "python3|/srv/shop/__main__.py", "__main__.py" },
	{ PYTHON, "python3|/srv/shop/", "shop" },
	{ PYTHON, "python3|.", "" },
	{ PYTHON, "python3|/dev/fd/63", "" },
	{ PYTHON, "python3|my app.py", "my app.py" },
	{ PYTHON, "gunicorn: master [app:app]~", "gunicorn" },
	{ PYTHON, "[celeryd: worker@h] -active-~", "celeryd" },
	{ PYTHON, "python3 -u app.py~", "" },
	{ "/usr/bin/python2.7", "python|app.py", "app.py" },
	{ "/usr/bin/python3-dbg", "python3-dbg|app.py", "app.py" },
	{ "/usr/bin/python3.13t", "python3.13t|app.py", "app.py" },
	{ "/opt/pypy/bin/pypy3.10", "pypy3|-O|app.py", "app.py" },
	{ "/usr/bin/python-config", "python-config|app.py", "" },
	{ "", "python3|app.py", "app.py" },
	{ "", "/usr/bin/nginx|-g|daemon off;", "" },
	{ NODE, "node|server.js", "server.js" },
	{ NODE, "node|/app/index.js|--port=80", "index.js" },
	{ NODE, "node|--require|dotenv/config|-r|ts-node/register|src/app.ts", "app.ts" },
	{ NODE, "node|--require=dotenv/config|--inspect|server.js", "server.js" },
	{ NODE, "node|--inspect=0.0.0.0:9229|--max-old-space-size=4096|server.js", "server.js" },
	{ NODE, "node|--perf-basic-prof|--import|tsx|server.ts", "server.ts" },
	{ NODE, "node|--env-file|.env|server.js", "server.js" },
	{ NODE, "node|-e|setInterval(() => 0, 1)|x.js", "" },
	{ NODE, "node|-pe|1+1", "" },
	{ NODE, "node|--eval=1", "" },
	{ NODE, "node|--watch|server.js", "server.js" },
	{ NODE, "/usr/bin/node|/usr/lib/node_modules/npm/bin/npm-cli.js|start", "npm-cli.js" },
	{ NODE, "npm start~", "npm" },
	{ "/usr/bin/nodejs", "nodejs|app.js", "app.js" },
	{ "/usr/bin/node-22", "node|app.js", "app.js" },
	{ DENO, "deno|run|-A|--allow-net|main.ts", "main.ts" },
	{ DENO, "deno|run|--config|deno.json|main.ts", "main.ts" },
	{ DENO, "deno|main.ts", "main.ts" },
	{ DENO, "deno|eval|1", "" },
	{ DENO, "deno|task|dev", "" },
	{ BUN, "bun|run|--hot|server.ts", "server.ts" },
	{ BUN, "bun|index.ts", "index.ts" },
	{ BUN, "bun|-e|1", "" },
	{ RUBY, "ruby|app.rb", "app.rb" },
	{ RUBY, "ruby|-W0|-I|lib|-rbundler/setup|bin/rails|server", "rails" },
	{ RUBY, "ruby|-r|json|-Ilib|app.rb", "app.rb" },
	{ RUBY, "ruby|-ne|puts 1|x", "" },
	{ RUBY, "puma 6.4.2 (tcp://0.0.0.0:3000) [shop]~", "puma" },
	{ PERL, "perl|-w|-I|/opt/lib|/opt/app.pl|x", "app.pl" },
	{ PERL, "perl|-I/opt/lib|-MFoo=bar|app.pl", "app.pl" },
	{ PERL, "perl|-e|while (1) {}", "" },
	{ PERL, "perl|-lane|print|x.txt", "" },
	{ PERL, "perl|-0777|-pi.bak|-e|s/a/b/|x.txt", "" },
	{ PERL, "/usr/bin/perl|-T|/usr/sbin/munin-node", "munin-node" },
	{ PHP, "php|/srv/artisan|queue:work", "artisan" },
	{ PHP, "php|-d|memory_limit=1G|-dxdebug.mode=off|worker.php", "worker.php" },
	{ PHP, "php|-f|worker.php|--|-x", "worker.php" },
	{ PHP, "php|-r|sleep(9);", "" },
	{ PHP, "php|-S|0.0.0.0:80|-t|public", "" },
	{ PHP, "php|-S|0.0.0.0:80|-t|public|router.php", "router.php" },
	{ "/usr/sbin/php-fpm8.2", "php-fpm: pool www~", "" },
	{ "/usr/bin/php-cgi", "php-cgi|x.php", "" },
	{ BASH, "bash|/opt/backup.sh|-v", "backup.sh" },
	{ BASH, "/bin/bash|-eu|-o|pipefail|backup.sh", "backup.sh" },
	{ BASH, "/bin/bash|-euo|pipefail|backup.sh", "backup.sh" },
	{ BASH, "bash|+x|backup.sh", "backup.sh" },
	{ BASH, "bash|--rcfile|/etc/x|backup.sh", "backup.sh" },
	{ BASH, "bash|-c|while :; do :; done|name", "" },
	{ BASH, "bash|-lc|make", "" },
	{ BASH, "-bash", "" },
	{ BASH, "bash", "" },
	{ BASH, "bash|-s|arg", "" },
	{ "/usr/bin/dash", "/bin/sh|/entrypoint.sh|nginx", "entrypoint.sh" },
	{ "/usr/bin/dash", "sh|-ec|true", "" },
	{ "/usr/bin/zsh", "zsh|run.zsh", "run.zsh" },
	{ "/bin/busybox", "/bin/sh|/entrypoint.sh", "entrypoint.sh" },
	{ "/bin/busybox", "busybox|sh|/entrypoint.sh", "entrypoint.sh" },
	{ "/bin/busybox", "sh|-c|yes", "" },
	{ "/bin/busybox", "httpd|-f", "" },
	{ JAVA, "java|-jar|/opt/app.jar|--server.port=80", "app.jar" },
	{ JAVA, "java|-Xmx1g|-Dx=y|-javaagent:/a.jar|-jar|app-1.2.jar", "app-1.2.jar" },
	{ JAVA, "java|-cp|/opt/lib/*:/opt/classes|org.example.shop.Main|x", "Main" },
	{ JAVA, "java|-classpath|a.jar|kafka.Kafka|server.properties", "Kafka" },
	{ JAVA, "java|--class-path=a.jar|Main", "Main" },
	{ JAVA, "java|--module-path|mods|-m|org.example/org.example.Main", "Main" },
	{ JAVA, "java|-p|mods|--module=org.example/org.example.App", "App" },
	{ JAVA, "java|--add-opens|java.base/java.lang=ALL-UNNAMED|--add-modules|ALL-SYSTEM|a.b.C",
	  "C" },
	{ JAVA, "java|@/etc/app.args|org.example.Main", "Main" },
	{ JAVA, "java|--source|21|/srv/Hello.java", "Hello.java" },
	{ JAVA, "java|-version", "" },
	{ JAVA, "java", "" },
	{ DOTNET, "dotnet|/app/Shop.Web.dll|--urls|x", "Shop.Web.dll" },
	{ DOTNET, "dotnet|exec|--runtimeconfig|a.json|--depsfile|b.json|Shop.dll", "Shop.dll" },
	{ DOTNET, "dotnet|run", "" },
	{ DOTNET, "dotnet|build|Shop.dll", "" },
	{ "/usr/bin/mono-sgen", "/usr/bin/mono|--debug|/opt/app.exe", "app.exe" },
	{ "/usr/bin/Rscript", "Rscript|--vanilla|model.R|x", "model.R" },
	{ "/usr/bin/Rscript", "Rscript|-e|1+1", "" },
	{ R, "R|--no-echo|--no-restore|--file=/srv/model.R|--args|x", "model.R" },
	{ R, "R|-f|model.R", "model.R" },
	{ R, "R|-e|1", "" },
	{ "/usr/bin/lua5.4", "lua|-l|socket|-e|x=1|server.lua", "server.lua" },
	{ "/usr/bin/luajit", "luajit|-O3|server.lua", "server.lua" },
	{ "/usr/bin/lua5.4", "lua|-e|while true do end", "" },
	{ "/usr/bin/tclsh8.6", "tclsh|-encoding|utf-8|app.tcl", "app.tcl" },
	{ "/usr/bin/julia", "julia|-t|4|--project=.|sim.jl", "sim.jl" },
	{ "/usr/bin/julia", "julia|-e|1", "" },
	{ "/usr/lib/erlang/erts-13/bin/beam.smp", "beam.smp|--|-root|/usr/lib/erlang|-noshell",
	  "" },
	{ "/usr/sbin/nginx", "nginx: worker process~", "" },
	{ "/usr/bin/awk", "awk|-f|x.awk", "" },
	{ "/usr/bin/python3.11", "", "" },
};

static struct str find(const char *exe, const char *words, char *ret_copy, size_t n_room)
{
	size_t n = strlen(words);
	bool padded = n > 0 && words[n - 1] == '~';

	assert_true(n + 4 < n_room);
	memset(ret_copy, 0, n_room);
	for (size_t i = 0; i < n - padded; i++)
		ret_copy[i] = words[i] == '|' ? '\0' : words[i];
	return script_find(str_from(exe), (struct str){ ret_copy, n == 0   ? 0
								  : padded ? n + 3
									   : n + 1 });
}

static void test_row(void **state)
{
	const struct row *row = *state;
	char copy[512], text[SCRIPT_NAME_MAX + 1];
	struct str name = find(row->exe, row->words, copy, sizeof(copy));

	str_copy_utf8(text, sizeof(text), name);
	assert_string_equal(text, row->expected);
}

static void test_cut_arguments(void **state)
{
	static const char words[] = "java\0-cp\0a.jar\0org.example.Ma";

	(void)state;
	assert_int_equal(script_find(str_from(JAVA), (struct str){ words, sizeof(words) - 1 }).n,
			 0);
	assert_int_equal(script_find(str_from(JAVA), (struct str){ words, sizeof(words) }).n, 2);
	assert_int_equal(script_find(str_from(JAVA), (struct str){ NULL, 0 }).n, 0);
}

static void test_helpers(void **state)
{
	static const struct {
		const char *words;
		bool is_helper;
	} cases[] = {
		{ "python3|-c|from multiprocessing.spawn import spawn_main; "
		  "spawn_main()|--multiprocessing-fork",
		  true },
		{ "python3|-B|-E|-c|from multiprocessing.forkserver import main; main(3)", true },
		{ "python3|-m|joblib.externals.loky.backend.popen_loky_posix|--pipe|3", true },
		{ "python3|app.py", false },
		{ "python3|-c|import multiprocessing", false },
		{ "", false },
	};
	char copy[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t n = strlen(cases[i].words) + 1;

		for (size_t k = 0; k < n; k++)
			copy[k] = cases[i].words[k] == '|' ? '\0' : cases[i].words[k];
		assert_int_equal(script_is_helper((struct str){ copy, n }), cases[i].is_helper);
	}
}

/* A name that no file has: 255 bytes are the most. */
static void test_long_name(void **state)
{
	char words[SCRIPT_NAME_MAX + 16] = "bash";

	(void)state;
	memset(words + 5, 'x', SCRIPT_NAME_MAX + 1);
	assert_int_equal(
		script_find(str_from(BASH), (struct str){ words, 5 + SCRIPT_NAME_MAX + 2 }).n, 0);
	assert_int_equal(
		script_find(str_from(BASH), (struct str){ words + 1, 4 + SCRIPT_NAME_MAX + 2 }).n,
		0);
	words[5] = '/';
	assert_int_equal(
		script_find(str_from(BASH), (struct str){ words, 5 + SCRIPT_NAME_MAX + 2 }).n,
		SCRIPT_NAME_MAX);
}

int main(void)
{
	static char names[ARRAY_SIZE(rows)][512];
	struct CMUnitTest tests[ARRAY_SIZE(rows) + 3];
	size_t n = 0;

	for (; n < ARRAY_SIZE(rows); n++) {
		(void)snprintf(names[n], sizeof(names[n]), "%s %s", rows[n].exe, rows[n].words);
		tests[n] = (struct CMUnitTest){ .name = names[n],
						.test_func = test_row,
						.initial_state = (void *)&rows[n] };
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_cut_arguments);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_long_name);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_helpers);
	return cmocka_run_group_tests_name("agent/process/script", tests, NULL, NULL);
}
