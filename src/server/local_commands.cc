// restore, verify, version, reference.
#include <memory>

#include <sys/stat.h>

#include "cli/completion.h"
#include "cli/wait_note.h"
#include "db/directory.h"
#include "server/commands.h"
#include "server/version.h"

namespace sluice::server {
namespace {

struct RestoreOptions {
  std::string backup;
  std::string data;
};

}  // namespace

void AddLocalCommands(cli::Program* program) {
  const auto options = std::make_shared<RestoreOptions>();
  CLI::App* restore = program->AddCommand(
      &program->app(), "restore", "Make a data directory from a backup, while no server runs on it",
      [options](cli::Context& context) -> Status {
        umask(S_IRWXG | S_IRWXO);  // the data is for the server's user
        const auto restore = [&] {
          const cli::WaitNote note(&context.output, "verifying and copying the backup");
          return db::RestoreBackup(options->backup, options->data);
        };
        RETURN_IF_ERROR(restore());
        context.output.Note(fmt::format("{} restored to {}", options->backup, options->data));
        return OkStatus();
      });
  restore->add_option("backup", options->backup, "Directory of the backup")->required();
  restore
      ->add_option("--data", options->data,
                   "Data directory to make: it must not exist, or be empty")
      ->required();

  const auto verified = std::make_shared<std::string>();
  program
      ->AddCommand(&program->app(), "verify",
                   "Check a backup, or the data directory of a stopped server",
                   [verified](cli::Context& context) -> Status {
                     const auto verify = [&] {
                       const cli::WaitNote note(&context.output, "reading all files");
                       return db::VerifyDirectory(*verified);
                     };
                     RETURN_IF_ERROR(verify());
                     context.output.Note(fmt::format("{} is complete and undamaged", *verified));
                     return OkStatus();
                   })
      ->add_option("directory", *verified, "Directory of a backup, or a data directory")
      ->required();

  program->app().set_version_flag("-v,--version", fmt::format("sluice {}", Version()));
  program->AddCommand(&program->app(), "version", "Print the version", [](cli::Context& context) {
    if (context.output.json()) {
      context.output.Object(VersionDetails());
    } else {
      context.output.Line(fmt::format("sluice {}", Version()));
    }
    return OkStatus();
  });

  // For docs/reference/cli.md; of no use to users, so not listed.
  program
      ->AddCommand(&program->app(), "reference", "Print the reference of all commands",
                   [program](cli::Context& context) {
                     context.output.Raw(cli::CommandReference(program->app()));
                     return OkStatus();
                   })
      ->group("");
}

}  // namespace sluice::server
