// A program with a cache open: `nuthatch-visitor DIRECTORY`. For each URL on standard input, a line about its thumbnail.

import Glibc
import Nuthatch

func said(_ url: String, _ cache: Cache) -> String {
  var request = Request(url)
  request.boxes = [ThumbnailBox(width: 256, height: 256)]
  do {
    guard let event = try cache.submit(request).final() else { return "nothing" }
    if let error = event.error { throw error }
    guard let image = event.images.first else { return "nothing" }
    return "\(image.isInCache ? "hit" : "fetched") \(image.width)x\(image.height)"
  } catch let error as NuthatchError {
    return error.code.word
  } catch {
    return "\(error)"
  }
}

func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}

guard CommandLine.arguments.count == 2 else { exit(2) }
let cache = try Cache(path: CommandLine.arguments[1])
say("open")
while let line = readLine() { say(said(line, cache)) }
cache.close()
