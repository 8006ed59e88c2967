#include "server/commands.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/completion.h"

namespace sluice::server {
namespace {

// The whole program with its streams in memory.
struct Invocation {
  explicit Invocation(std::vector<const char*> arguments) {
    cli::Program program(in, out, err);
    AddAllCommands(&program);
    arguments.insert(arguments.begin(), "sluice");
    exit_code = program.Run(static_cast<int>(arguments.size()), arguments.data());
  }

  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  int exit_code = -1;
};

TEST(Commands, ReferencePageIsCurrent) {
  EXPECT_EQ(ReadFile("docs/reference/cli.md", 1 << 20).value_or("missing"),
            Invocation({"reference"}).out.str())
      << "run: build/sluice reference > docs/reference/cli.md";
}

TEST(Commands, WrongCommandLinesAreUsageErrors) {
  const Invocation unknown({"frobnicate"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.out.str(), "");
  EXPECT_NE(unknown.err.str().find("(cli.usage)"), std::string::npos) << unknown.err.str();
  EXPECT_EQ(Invocation({}).exit_code, 0) << "lists the commands";
  EXPECT_EQ(Invocation({"kv"}).exit_code, 2);
  EXPECT_EQ(Invocation({"kv", "get", "shop"}).exit_code, 2);
  EXPECT_EQ(Invocation({"kv", "get", "shop", "k", "--frob"}).exit_code, 2);
  EXPECT_EQ(Invocation({"version", "-o", "xml"}).exit_code, 2);
}

TEST(Commands, ErrorsAsJson) {
  const Invocation run({"-o", "json", "kv", "get", "a.b", "k"});
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(run.err.str(),
            R"({"id":"cli.invalid_name","message":"expected a keyspace such as shop or )"
            R"(shop.inventory.items, found 'a.b'","hint":"","exit_code":7})"
            "\n");
}

TEST(Commands, DevelopmentStaysOnThisMachine) {
  const Invocation run({"serve", "--dev", "--http", "0.0.0.0:0"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.str().find("0.0.0.0:0 is not a loopback address"), std::string::npos);
}

TEST(Commands, VersionAndHelpGoToStandardOutput) {
  EXPECT_EQ(Invocation({"version"}).out.str().substr(0, 7), "sluice ");
  const Invocation flag({"--version"});
  EXPECT_EQ(flag.exit_code, 0);
  EXPECT_EQ(flag.out.str(), Invocation({"version"}).out.str());
  const Invocation help({"kv", "put", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.str().find("--if-absent"), std::string::npos);
}

TEST(Commands, CompletionKnowsCommandsAndOptions) {
  const std::string bash = Invocation({"completion", "bash"}).out.str();
  EXPECT_NE(bash.find("\" kv\") words=\"get put rm scan "), std::string::npos) << bash;
  EXPECT_NE(bash.find("--ignore-fields"), std::string::npos);
  EXPECT_EQ(bash.find("reference"), std::string::npos);
  EXPECT_EQ(Invocation({"completion", "zsh"}).out.str().substr(0, 15), "#compdef sluice");
  EXPECT_NE(Invocation({"completion", "fish"})
                .out.str()
                .find("complete -c sluice -n '__fish_seen_subcommand_from kv' -a get -d 'Print a "
                      "document'"),
            std::string::npos);
  EXPECT_EQ(Invocation({"completion", "csh"}).exit_code, 2);
}

}  // namespace
}  // namespace sluice::server
