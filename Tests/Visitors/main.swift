// A program with a cache open: `nuthatch-visitor DIRECTORY [async]`. For each URL on standard input, a line about its
// thumbnail.

import Glibc
import Nuthatch

func blocking(_ url: String, _ cache: Cache) throws(NuthatchError) -> Image {
  var request = Request(url)
  request.delivery = .fresh
  request.boxes = [ThumbnailBox(256)]
  let event = try cache.submit(request).final()
  guard let image = event?.images.first else { throw event?.error ?? NuthatchError(.internal, "no picture") }
  return image
}

func later(_ url: String, _ cache: Cache) async throws(NuthatchError) -> Image {
  try await cache.thumbnail(url, size: 256)
}

func said(_ image: Image) -> String {
  "\(image.isInCache ? "hit" : "fetched") \(image.width)x\(image.height)"
}

func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}

guard CommandLine.arguments.count > 1 else { exit(2) }
let cache = try Cache(path: CommandLine.arguments[1])
let isAsync = CommandLine.arguments.count > 2
say("open")
while let url = readLine() {
  do throws(NuthatchError) {
    say(said(isAsync ? try await later(url, cache) : try blocking(url, cache)))
  } catch {
    say(error.code.word)
  }
}
cache.close()
