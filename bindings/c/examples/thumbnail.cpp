// A thumbnail as a PNG, in C++17:  c++ thumbnail.cpp $(pkg-config --cflags --libs nuthatch) -o thumbnail
#include <nuthatch.hpp>

#include <fstream>
#include <iostream>

int main(int count, char **arguments) {
  using namespace std::chrono_literals;
  if (count != 3) return std::cerr << "usage: thumbnail URL FILE\n", 2;
  try {
    nuthatch::Cache cache(nuthatch::Options().policy(nuthatch::Policy::rfc9111));
    auto image = cache.thumbnail(arguments[1], nuthatch::Options().size(256).timeout(5s).retries(0));
    std::cout << image.width() << " x " << image.height() << "\n";
    std::ofstream file(arguments[2], std::ios::binary);
    return file << image.encode(NH_FORMAT_PNG) && file.flush() ? 0 : 1;
  } catch (const nuthatch::Error &error) {
    std::cerr << error.word() << ": " << error.what() << "\n";
    return 1;
  }
}
