// Makes thumbnails of many pictures, as JPEG files:  swift run thumbnails SIZE FOLDER URL…
//
// All requests start at once. The library's queue limits how many are sent, also to one host.

import Glibc
import Nuthatch

@main struct Thumbnails {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 3, let size = arguments.first.flatMap({ Int($0) }) else {
      print("usage: thumbnails SIZE FOLDER URL…")
      exit(2)
    }
    let folder = arguments[2]
    let cache = try Cache()
    var failed = 0
    await withTaskGroup(of: Bool.self) { tasks in
      for (number, url) in arguments.dropFirst(2).enumerated() {
        tasks.addTask { await make(url, size, "\(folder)/\(number).jpg", in: cache) }
      }
      for await isMade in tasks where !isMade { failed += 1 }
    }
    cache.close()
    exit(failed == 0 ? 0 : 1)
  }

  /// Makes one thumbnail. Returns false if that fails. Cancelling the task would cancel only its own request.
  static func make(_ url: String, _ size: Int, _ path: String, in cache: Cache) async -> Bool {
    do throws(NuthatchError) {
      let image = try await cache.thumbnail(url, size: size)
      try write(try image.encoded(as: .jpeg(quality: 85)), to: path)
      print("\(path): \(image.width)x\(image.height)\(image.isInCache ? ", from the cache" : "")")
      return true
    } catch {
      print("\(url): \(error)")
      return false
    }
  }

  static func write(_ file: EncodedImage, to path: String) throws(NuthatchError) {
    guard let target = fopen(path, "wb") else { throw NuthatchError(.io, "can't write \(path)") }
    let isWritten = file.withBytes { fwrite($0.baseAddress, 1, $0.count, target) == $0.count }
    guard fclose(target) == 0, isWritten else { throw NuthatchError(.io, "can't write \(path)") }
  }
}
