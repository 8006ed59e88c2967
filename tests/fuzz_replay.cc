// Runs a fuzz target without libFuzzer: every seed file of a directory, then a fixed number of
// mutations of them from a fixed random seed, so that the run is the same each time.
// Usage: X_fuzz CORPUS_DIR [ROUNDS]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::vector<std::string> ReadSeeds(const char* directory) {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream in(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

std::string Mutate(const std::vector<std::string>& seeds, std::mt19937_64& random) {
  std::string input = seeds[random() % seeds.size()];
  const int edits = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < edits; ++i) {
    const size_t at = input.empty() ? 0 : random() % input.size();
    switch (random() % 5) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 1:
        input.insert(at, 1, static_cast<char>(random()));
        break;
      case 2:
        if (!input.empty()) input.erase(at, 1 + random() % 8);
        break;
      case 3:
        input.resize(at);
        break;
      default: {
        const std::string& other = seeds[random() % seeds.size()];
        const size_t from = other.empty() ? 0 : random() % other.size();
        input.insert(at, other.substr(from, 1 + random() % 32));
      }
    }
  }
  return input;
}

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIR [ROUNDS]\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> seeds = ReadSeeds(argv[1]);
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds in %s\n", argv[0], argv[1]);
    return 2;
  }
  for (const std::string& seed : seeds) Run(seed);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20000;
  std::mt19937_64 random(1);
  for (int i = 0; i < rounds; ++i) Run(Mutate(seeds, random));
  std::printf("%zu seeds and %d mutations of them\n", seeds.size(), rounds);
  return 0;
}
