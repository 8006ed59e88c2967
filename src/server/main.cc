#include <iostream>

#include "cli/program.h"
#include "server/commands.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  sluice::cli::Program program(std::cin, std::cout, std::cerr);
  sluice::server::AddAllCommands(&program);
  return program.Run(argc, argv);
}
