/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs run scripts, and how each reads its arguments: from their manual pages. */
#include "agent/process/script_interpreters.h"

#include "agent/util/macro.h"

static const struct script_interpreter interpreters[] = {
	{ .names = "python pypy",
	  .values = "--check-hash-based-pycs",
	  .stops = "--version --help --help-all --help-env --help-xoptions",
	  .value_letters = "WXQ",
	  .stop_letters = "chV",
	  .name_letters = "m",
	  .form = SCRIPT_FILE,
	  .named_form = SCRIPT_MODULE,
	  .titles = true },
	{ .names = "node nodejs",
	  .no_script = "inspect",
	  .values = "--require --import --loader --experimental-loader --conditions --env-file "
		    "--env-file-if-exists --title --icu-data-dir --input-type --watch-path "
		    "--cpu-prof-dir --cpu-prof-name --cpu-prof-interval --heap-prof-dir "
		    "--heap-prof-name --diagnostic-dir --redirect-warnings --unhandled-rejections "
		    "--dns-result-order --openssl-config --report-dir --report-directory "
		    "--report-filename --report-signal --trace-event-categories "
		    "--trace-event-file-pattern --tls-cipher-list --tls-keylog --secure-heap "
		    "--max-http-header-size --disable-warning --localstorage-file "
		    "--test-name-pattern --test-reporter --test-reporter-destination "
		    "--test-concurrency --network-family-autoselection-attempt-timeout",
	  .stops = "--eval --print --version --help --interactive --run -pe",
	  .value_letters = "rC",
	  .stop_letters = "epivh",
	  .form = SCRIPT_FILE,
	  .titles = true },
	{ .names = "deno",
	  .commands = "run serve test bench",
	  .no_script =
		  "eval repl task install cache check compile doc fmt info init jupyter lint "
		  "lsp publish remove add types upgrade uninstall vendor bundle outdated clean",
	  .values =
		  "--config --import-map --log-level --cert --location --seed --port --host --lock",
	  .stops = "--version --help",
	  .value_letters = "cL",
	  .stop_letters = "hV",
	  .form = SCRIPT_FILE },
	{ .names = "bun bunx",
	  .commands = "run x",
	  .no_script = "repl exec install add remove update link unlink pm build init create "
		       "upgrade test",
	  .values = "--preload --require --import --define --loader --external --conditions "
		    "--tsconfig-override --cwd --config --env-file --port --filter",
	  .stops = "--eval --print --version --help",
	  .value_letters = "rdlcF",
	  .stop_letters = "epvh",
	  .form = SCRIPT_FILE },
	{ .names = "ruby jruby truffleruby",
	  .values = "--encoding --external-encoding --internal-encoding --enable --disable "
		    "--backtrace-limit --dump --parser",
	  .stops = "--version --help --copyright",
	  .value_letters = "IrCE",
	  .rest_letters = "FKTWxi",
	  .stop_letters = "eh",
	  .form = SCRIPT_FILE,
	  .titles = true },
	{ .names = "perl",
	  .value_letters = "I",
	  .rest_letters = "MmiDFCxd",
	  .stop_letters = "eEVvh",
	  .form = SCRIPT_FILE,
	  .titles = true },
	{ .names = "php",
	  .values = "--define --php-ini --docroot --server --run-begin --zend-extension",
	  .stops = "--run --process-code --process-begin --process-end --interactive --info "
		   "--modules --version --help --rf --rc --re --rz --ri --ini",
	  .files = "--file --process-file",
	  .value_letters = "cdztS",
	  .stop_letters = "raBREimvh",
	  .file_letters = "fF",
	  .form = SCRIPT_FILE },
	{ .names = "bash sh dash ash zsh ksh mksh pdksh yash rbash",
	  .values = "--rcfile --init-file",
	  .stops = "--version --help",
	  .value_letters = "oO",
	  .stop_letters = "cs",
	  .form = SCRIPT_FILE,
	  .plus = true },
	{ .names = "fish",
	  .values = "--init-command --features --debug --debug-output --profile",
	  .stops = "--command --version --help",
	  .value_letters = "CfdDop",
	  .stop_letters = "cvh",
	  .form = SCRIPT_FILE },
	{ .names = "java",
	  .values = "-cp -classpath --class-path -p --module-path --upgrade-module-path "
		    "--add-modules --limit-modules --add-opens --add-exports --add-reads "
		    "--patch-module --source --enable-native-access",
	  .stops = "-version --version -help --help -? -h --list-modules -d --describe-module",
	  .files = "-jar",
	  .named = "-m --module",
	  .form = SCRIPT_CLASS,
	  .named_form = SCRIPT_CLASS,
	  .single_dash = true },
	{ .names = "dotnet",
	  .commands = "exec",
	  .values = "--depsfile --runtimeconfig --additionalprobingpath --additional-deps "
		    "--fx-version --roll-forward --roll-forward-on-no-candidate-fx",
	  .stops = "--info --version --help -h --list-sdks --list-runtimes",
	  .suffixes = ".dll .exe",
	  .form = SCRIPT_FILE,
	  .single_dash = true },
	{ .names = "mono mono-sgen",
	  .values = "--config --runtime --profile --debugger-agent",
	  .stops = "--version -V --help -h",
	  .form = SCRIPT_FILE,
	  .single_dash = true },
	{ .names = "Rscript",
	  .stops = "-e --version --help",
	  .form = SCRIPT_FILE,
	  .single_dash = true },
	/* What Rscript becomes; whatever else stands there is R's own, or data. */
	{ .names = "R",
	  .values = "-g --gui -d --debugger --encoding",
	  .stops = "-e --args",
	  .files = "-f --file",
	  .suffixes = ".R .r",
	  .form = SCRIPT_FILE,
	  .single_dash = true },
	{ .names = "julia",
	  .values = "--sysimage --home --threads --procs --load --machine-file --cpu-target "
		    "--project --startup-file",
	  .stops = "--eval --print --version --help",
	  .value_letters = "JHtpLCO",
	  .rest_letters = "g",
	  .stop_letters = "eEvh",
	  .form = SCRIPT_FILE },
	{ .names = "lua luajit texlua",
	  .value_letters = "elj",
	  .rest_letters = "Ob",
	  .form = SCRIPT_FILE },
	{ .names = "tclsh wish", .values = "-encoding", .form = SCRIPT_FILE, .single_dash = true },
};

bool script_word_in(const char *list, struct str word)
{
	struct str rest = str_from(list), entry;

	while (word.n > 0 && str_split(&rest, ' ', &entry))
		if (str_eq(entry, word))
			return true;
	return false;
}

/* "", "3", "3.11", "-22", "8.6t", "3-dbg": what follows the name of an interpreter that is installed beside others. */
static bool is_version(struct str s)
{
	static const struct str debug = { "-dbg", 4 };
	size_t i = 0;

	if (str_ends_with(s, debug))
		s.n -= debug.n;
	if (s.n > 0 && s.p[0] == '-')
		i++;
	for (; i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '.'); i++)
		;
	/* Python's builds without the lock, or with checks. */
	return i == s.n ||
	       (i > 0 && i + 1 == s.n && (s.p[i] == 't' || s.p[i] == 'd' || s.p[i] == 'm'));
}

static bool is_named(const struct script_interpreter *in, struct str name)
{
	struct str rest = str_from(in->names), entry;

	while (str_split(&rest, ' ', &entry))
		if (str_starts_with(name, entry) &&
		    is_version((struct str){ name.p + entry.n, name.n - entry.n }))
			return true;
	return false;
}

const struct script_interpreter *script_interpreter_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (is_named(&interpreters[i], name))
			return &interpreters[i];
	return NULL;
}
