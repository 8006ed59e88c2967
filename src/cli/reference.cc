// docs/reference/cli.md from the tree of commands.
#include "cli/completion.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kPageHead =
    R"(# The command line

<!-- Made by `sluice reference`; a test compares. -->

`sluice` is the server and its client in one program. `serve`, `restore`, `verify`, `config`, `version`, `fn test`, `flow test`, `types test` and `types lint`
work on this machine; all other commands talk to a server over HTTP.

- Data goes to standard output, everything else to standard error. `-o json` gives JSON, errors included:
  `{"id","message","hint","exit_code",...}` on one line for each error. Ids are listed in [errors](../errors/README.md).
- The server is `--server URL`, the user `--user NAME` with `--password-file FILE`, or `--token TOKEN`. The same from the
  environment: `SLUICE_SERVER`, `SLUICE_USER`, `SLUICE_PASSWORD`, `SLUICE_TOKEN`, `SLUICE_CA_FILE`. A password is not
  taken from the command line, where other users of the machine could see it.
- A keyspace is written `shop` (the bucket's default collection) or `shop.inventory.items`.
- `sluice completion bash|zsh|fish` prints a completion script: `source <(sluice completion bash)`.

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | failed for a reason that has no code of its own; also: a test of `fn test`, `flow test` or `types test` failed, `flow lint` found errors, `flow run`'s flow answered an error |
| 2 | the command line is wrong, or a file of `fn test` or `flow test` can't be used |
| 3 | not found |
| 4 | conflict: it exists already, or changed meanwhile |
| 5 | not authenticated, or not allowed |
| 6 | unavailable: the server can't be reached, is starting, stopping or overloaded; the data directory or a port is in use |
| 7 | invalid data: a file, a document or a configuration is malformed |
| 8 | the disk is full, or reading or writing a file failed |
| 9 | stored data is damaged |
| 10 | done in part: some documents of an import, export or migration were left out, or some statements of `sql --continue` failed |

## Keys made by import

`--key` makes a document's key: `%field%` and `%nested.field%` stand for fields of the document (a string, number or
boolean), `#UUID#` for a random UUID, `#MONO_INCR#` for 1, 2, 3, ... and `#MONO_INCR[100]#` for the same from 100; `%%` and
`##` are the characters themselves. `--key 'user::%id%'` makes `user::17` of `{"id":17}`.

## Statements and the SQL shell

`sluice sql` runs SQL++ statements: those of its argument, of a file (`-f`) or of standard input. Rows are a table,
`-o json` gives one array and `--lines` one JSON value per row. The first error ends it with that error's exit code.

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

A statement ends with `;` outside of strings, back quotes and comments, or with `$$`. From the `{` of `CREATE PROCEDURE` to the `}`
that closes it only `$$` does, so that the procedure's code may have semicolons. From `BEGIN` to `COMMIT` or `ROLLBACK` statements run
in one transaction, which is rolled back if the input ends first.

Statements go over one [streaming connection](stream.md). Rows of a procedure appear as it emits them in the formats `cdb2` and `lines`, and those of a
consumer in every format. A row of a consumer is acknowledged when it was written and the next one is asked for; Ctrl-C acknowledges nothing.
`SET name = value` holds until the end.

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

`sluice consume` is the same for consumers alone; [a guide](../guide/consumers.md) shows more.

At a terminal, without an argument, it is a shell. Lines are edited and kept (in `$XDG_STATE_HOME` or `~/.local/state`, below
`sluice/sql_history`), Tab completes keywords, functions and keyspaces, and Ctrl-C cancels the statement that runs. Lines that
begin with a backslash are the shell's own commands, in files too:

| command | meaning |
|---|---|
| `\d` | list the keyspaces |
| `\d KEYSPACE` | its fields, inferred from a sample of documents, and its indexes |
| `\c BUCKET.SCOPE` | look short keyspace names up there; without a name: everywhere |
| `\o table`, `\o json`, `\o lines`, `\o cdb2` | form of results |
| `\timing` | show times, or stop showing them |
| `\i FILE` | run the statements of a file |
| `\h STATEMENT` | syntax; without a statement: which there are |
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
