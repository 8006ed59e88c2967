// docs/reference/cli.md from the tree of commands.
#include "cli/completion.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kPageHead =
    R"(# The command line

<!-- Made by `sluice reference`; a test compares. -->

`sluice` is the server and its client in one program. `serve`, `restore`, `verify`, `config`, `version`, `fn test`, `flow test`, `types test` and `types lint`
work on this machine; all other commands talk to a server over HTTP.

- Data goes to standard output, everything else to standard error. `-o json` prints JSON, also for errors:
  `{"id","message","hint","exit_code",...}`, one line each. The page [errors](../errors/README.md) lists the ids.
- `--server URL` names the server; `--user NAME` with `--password-file FILE`, or `--token TOKEN`, logs you in. You can set the
  same in the environment: `SLUICE_SERVER`, `SLUICE_USER`, `SLUICE_PASSWORD`, `SLUICE_TOKEN`, `SLUICE_CA_FILE`. No option takes
  a password, because other users of the machine could see it.
- Write a keyspace as `shop` (the bucket's default collection) or `shop.inventory.items`.
- `sluice completion bash|zsh|fish` prints a completion script: `source <(sluice completion bash)`.

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | failed for another reason; also: a test of `fn test`, `flow test` or `types test` failed, `flow lint` found errors, the flow of `flow run` answered with an error |
| 2 | the command line is wrong, or a file of `fn test` or `flow test` can't be used |
| 3 | not found |
| 4 | conflict: it already exists, or somebody else changed it |
| 5 | not authenticated, or not allowed |
| 6 | unavailable: the server can't be reached, is starting, stopping or overloaded; the data directory or a port is in use |
| 7 | invalid data: a file, a document or a configuration is malformed |
| 8 | the disk is full, or reading or writing a file failed |
| 9 | stored data is damaged |
| 10 | done in part: an import, export or migration left out some documents, or some statements of `sql --continue` failed |

## Keys made by import

`--key` is a template for the documents' keys. `%field%` and `%nested.field%` stand for fields of the document (a string, number
or boolean), `#UUID#` for a random UUID, `#MONO_INCR#` for 1, 2, 3, ..., and `#MONO_INCR[100]#` for 100, 101, 102, ... Write
`%%` and `##` for the characters themselves. `--key 'user::%id%'` gives `{"id":17}` the key `user::17`.

## Statements and the SQL shell

`sluice sql` runs SQL++ statements from its argument, from a file (`-f`) or from standard input. It prints rows as a table, with
`-o json` as one array, and with `--lines` as one JSON value per row. At the first error it ends with that error's exit code.

```sh
$ sluice sql 'CREATE BUCKET shop'
$ sluice sql 'INSERT INTO shop VALUES ("a", {"name": "apple", "price": 3}), ("b", {"name": "bread", "price": 5})'
2 documents changed
$ sluice sql 'SELECT name, price FROM shop WHERE price < $1 ORDER BY name' --arg 10
name   price
-----  -----
apple      3
bread      5
$ sluice sql --lines 'SELECT RAW name FROM shop WHERE name LIKE $like' --param 'like="b%"'
"bread"
$ echo 'SELEC 1' | sluice sql
error: line 1:1: …
  SELEC 1
  ^
```

A statement ends with `;` outside of strings, back quotes and comments, or with `$$`. Between the `{` of `CREATE PROCEDURE` and
the closing `}` only `$$` ends it, so the procedure's code may have semicolons. Statements from `BEGIN` to `COMMIT` or
`ROLLBACK` run in one transaction. If the input ends first, the transaction is rolled back.

All statements use one [streaming connection](stream.md). In the formats `cdb2` and `lines`, rows of a procedure appear as it
emits them; rows of a consumer do so in every format. `sluice sql` prints a row of a consumer and then asks for the next one,
which acknowledges the printed row. Ctrl-C acknowledges nothing. `SET name = value` holds until the connection ends.

```sh
$ sluice sql 'CREATE TABLE t(i int)'
$ sluice sql 'CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)'
$ sluice sql 'INSERT INTO t VALUES(1), (2)'
2 documents changed
$ sluice consume watch --max 1
{"comdb2_event":"add","comdb2_id":"…","i":1}
$ sluice consume watch --timeout 500 --format cdb2
(comdb2_event='add', comdb2_id=x'…', i=2)
```

`sluice consume` does the same for consumers only; [a guide](../guide/consumers.md) shows more.

At a terminal, without an argument, `sluice sql` is a shell. You can edit lines; the shell keeps them in `sluice/sql_history`
below `$XDG_STATE_HOME` or `~/.local/state`. Tab completes keywords, functions and keyspaces, and Ctrl-C cancels the running
statement. Lines that begin with a backslash are commands of the shell, also in files:

| command | meaning |
|---|---|
| `\d` | list the keyspaces |
| `\d KEYSPACE` | show the fields of a keyspace, inferred from a sample of documents, and its indexes |
| `\c BUCKET.SCOPE` | set the scope of short keyspace names; without a name, remove it |
| `\o table`, `\o json`, `\o lines`, `\o cdb2` | set the format of results |
| `\timing` | turn the display of times on or off |
| `\i FILE` | run the statements of a file |
| `\h STATEMENT` | show the syntax of a statement; without one, list the statements |
| `\q`, `\?` | leave; list these commands |
)";

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string NameOf(const CLI::Option& option) {
  if (option.get_positional()) return option.get_single_name();
  std::string names;
  for (const std::string& name : option.get_snames()) names += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) names += "--" + name + ", ";
  names.resize(names.size() - 2);
  return names;
}

void AppendOptions(const CLI::App& app, std::string* page) {
  std::string rows;
  bool settings = false;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kSettingsGroup) {
      settings = true;
      continue;
    }
    if (option->get_lnames() == std::vector<std::string>{"help"}) continue;
    const std::string fallback = option->get_default_str();
    rows += fmt::format("| `{}` | {}{}{} |\n", NameOf(*option), Escaped(option->get_description()),
                        fallback.empty() ? "" : fmt::format(" (default: {})", fallback),
                        option->get_required() && !option->get_positional() ? " (required)" : "");
  }
  if (!rows.empty()) *page += "\n| option | meaning |\n|---|---|\n" + rows;
  if (settings) *page += "\nAnd a flag for each setting: see [configuration](config.md).\n";
}

void AppendCommand(const CLI::App& app, const std::string& path, std::string* page) {
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  if (below.empty()) {
    std::string usage = path;
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional()) continue;
      std::string name = option->get_single_name();
      for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      usage += option->get_required() ? " " + name : " [" + name + "]";
    }
    *page += fmt::format("\n### `{}`\n\n{}.\n", usage, app.get_description());
    AppendOptions(app, page);
  }
  for (const CLI::App* command : below) {
    if (!command->get_group().empty()) {
      AppendCommand(*command, path + " " + command->get_name(), page);
    }
  }
}

}  // namespace

std::string CommandReference(const CLI::App& root) {
  std::string page(kPageHead);
  page += "\n## Options of every command\n";
  AppendOptions(root, &page);
  page += "\n## Commands\n";
  AppendCommand(root, "sluice", &page);
  return page;
}

}  // namespace sluice::cli
