import CNuthatch
import NuthatchCore

// Arguments of calls that take a URL and options.

/// Returns the request that a call describes.
func asked(
  _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) throws(NuthatchError) -> Draft {
  try Draft(Request(try string(url, "url")), options, for: .request)
}

/// Like `asked`, for a call that returns the answer itself, not images.
func askedForAnswer(
  _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) throws(NuthatchError) -> Draft {
  let draft = try asked(url, options)
  guard draft.sizeCount == 0 else {
    throw NuthatchError(
      .invalid,
      "size is set, but this function returns the response and no thumbnail: \(draft.request.shownURL)")
  }
  return draft
}

/// Like `asked`, for a call that returns one image.
func askedForPicture(
  _ url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?
) throws(NuthatchError) -> Draft {
  let draft = try asked(url, options)
  guard draft.sizeCount == 1 else {
    throw NuthatchError(
      .invalid,
      "the request has \(draft.sizeCount) sizes; set one with size or sizes: \(draft.request.shownURL)")
  }
  return draft
}

/// Returns the side of the requested square, 0 for none, if no other option affects which stored answer is returned; nil if the request
/// must be built.
func plainSide(_ options: UnsafePointer<nh_options>?) throws(NuthatchError) -> Int? {
  if let side = onlySide(options) { return side }
  let said = try read(options, for: .request)
  guard !said.words.has(anyOf: .reachingHits.without(word: nh_size_word)) else { return nil }
  try Options(said).check(.request)
  return Int(said.raw.size)
}

/// Returns the side of the requested square if it is the only option, 0 if no option is set; nil if the options must be read.
/// If the result isn't nil, a repeated request is answered without being built.
func onlySide(_ options: UnsafePointer<nh_options>?) -> Int? {
  guard let options else { return 0 }
  let bytes = UnsafeRawPointer(options)
  let size = MemoryLayout<nh_options>.size
  // The first word has the size of the struct, and another option (`policy`), which must be 0.
  guard UInt(bitPattern: bytes) % 8 == 0, bytes.load(as: UInt64.self) == UInt64(size) else { return nil }
  let words = bytes.assumingMemoryBound(to: UInt64.self)
  let place = nh_size_word
  var others: UInt64 = 0
  for index in 1..<place { others |= words[index] }
  for index in (place + 1)..<(size / 8) { others |= words[index] }
  return others == 0 ? Int(Int64(bitPattern: words[place])) : nil
}
