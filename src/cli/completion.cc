// completion bash|zsh|fish: scripts made from the tree of commands.
#include "cli/completion.h"

#include <memory>

#include "cli/commands.h"

namespace sluice::cli {
namespace {

std::vector<const CLI::App*> Visible(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) commands.push_back(command);
  }
  return commands;
}

std::vector<std::string> LongOptions(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Calls visit(path, command) for every command, the root (path "") first. A path is " kv get".
void Walk(const CLI::App& app, const std::string& path,
          const std::function<void(const std::string&, const CLI::App&)>& visit) {
  visit(path, app);
  for (const CLI::App* command : Visible(app)) {
    Walk(*command, path + " " + command->get_name(), visit);
  }
}

std::string ShellQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string BashCompletion(const CLI::App& root) {
  std::string paths;
  std::string cases;
  const std::string global = fmt::format("{}", fmt::join(LongOptions(root), " "));
  Walk(root, "", [&](const std::string& path, const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::App* below : Visible(command)) words.push_back(below->get_name());
    for (std::string& option : LongOptions(command)) words.push_back(std::move(option));
    cases += fmt::format("    \"{}\") words=\"{}{}\" ;;\n", path, fmt::join(words, " "),
                         path.empty() ? "" : " " + global);
    if (!path.empty()) paths += fmt::format("{}\"{}\"", paths.empty() ? "" : "|", path);
  });
  return fmt::format(R"(# bash completion of sluice
_sluice() {{
  local word path="" words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in
      {}) path="$path $word" ;;
    esac
  done
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _sluice sluice
)",
                     paths, cases);
}

std::string ZshCompletion(const CLI::App& root) {
  return "#compdef sluice\nautoload -U +X bashcompinit && bashcompinit\n" + BashCompletion(root);
}

std::string FishCompletion(const CLI::App& root) {
  std::string script = "# fish completion of sluice\ncomplete -c sluice -f\n";
  Walk(root, "", [&](const std::string& path, const CLI::App& command) {
    std::string condition = "__fish_use_subcommand";
    if (!path.empty()) {
      condition = "__fish_seen_subcommand_from";
      condition += path.substr(path.rfind(' '));
      const size_t parent = path.find(' ', 1);
      if (parent != std::string::npos) {
        condition = "__fish_seen_subcommand_from" + path.substr(0, parent) + "; and " + condition;
      }
    }
    for (const CLI::App* below : Visible(command)) {
      script += fmt::format("complete -c sluice -n {} -a {} -d {}\n", ShellQuoted(condition),
                            below->get_name(), ShellQuoted(below->get_description()));
    }
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        script += fmt::format("complete -c sluice{} -l {} -d {}\n",
                              path.empty() ? "" : " -n " + ShellQuoted(condition), name,
                              ShellQuoted(option->get_description()));
      }
    }
  });
  return script;
}

void AddCompletionCommand(Program* program) {
  const auto shell = std::make_shared<std::string>();
  program
      ->AddCommand(&program->app(), "completion", "Print a completion script for a shell",
                   [shell, program](Context& context) {
                     const CLI::App& root = program->app();
                     context.output.Raw(*shell == "bash"  ? BashCompletion(root)
                                        : *shell == "zsh" ? ZshCompletion(root)
                                                          : FishCompletion(root));
                     return OkStatus();
                   })
      ->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace sluice::cli
