import CNuthatch
import NuthatchCore

// What calls ask for that take a URL and options.

/// The request that a call describes.
func asked(
  _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) throws(NuthatchError) -> Draft {
  try Draft(Request(try string(url, "url")), options, for: .request)
}

/// The same for a call that gives the answer itself, and no pictures.
func askedForAnswer(
  _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) throws(NuthatchError) -> Draft {
  let draft = try asked(url, options)
  guard draft.sizeCount == 0 else {
    throw NuthatchError(.invalid, "size asks for a thumbnail: \(draft.request.shownURL)")
  }
  return draft
}

/// The same for a call that gives one picture.
func askedForPicture(
  _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) throws(NuthatchError) -> Draft {
  let draft = try asked(url, options)
  guard draft.sizeCount == 1 else {
    throw NuthatchError(
      .invalid, "\(draft.sizeCount) sizes; say one with size or sizes: \(draft.request.shownURL)")
  }
  return draft
}

/// The side of the square that is asked for, 0 for none, where nothing else is said that has a part in which stored answer is
/// given; nil for what must be looked for as a request.
func plainSide(_ options: UnsafePointer<nh_options>?) throws(NuthatchError) -> Int? {
  if let side = onlySide(options) { return side }
  let said = try read(options, for: .request)
  guard !said.words.has(anyOf: .reachingHits.without(word: nh_size_word)) else { return nil }
  try Options(said).check(.request)
  return Int(said.raw.size)
}

/// The side of the square that is asked for where nothing else is said, 0 where nothing is said at all; nil for what must be read.
/// What was given before is found by it, without a request.
func onlySide(_ options: UnsafePointer<nh_options>?) -> Int? {
  guard let options else { return 0 }
  let bytes = UnsafeRawPointer(options)
  let size = MemoryLayout<nh_options>.size
  // The first word has another member beside the size of the struct.
  guard UInt(bitPattern: bytes) % 8 == 0, bytes.load(as: UInt64.self) == UInt64(size) else { return nil }
  let words = bytes.assumingMemoryBound(to: UInt64.self)
  let place = nh_size_word
  var others: UInt64 = 0
  for index in 1..<place { others |= words[index] }
  for index in (place + 1)..<(size / 8) { others |= words[index] }
  return others == 0 ? Int(Int64(bitPattern: words[place])) : nil
}
