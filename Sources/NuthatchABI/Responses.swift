// nuthatch.h 4: Responses
// Types: nh_answers.h
//
//     const char *type, *json;
//     size_t size;
//     nh_response_header(response, "content-type", &type);
//     if (nh_response_json(response, &json, &size) == NH_OK) parse(json, size);  // both live as long as the response
//     nh_response_release(response);

import CNuthatch
import NuthatchCore

/// Returns the facts about a response. Set info->struct_size to sizeof *info before the call.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_response_get_info")
public func nhResponseGetInfo(
  _ response: nh_response_ref?, _ info: UnsafeMutablePointer<nh_response_info>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let info else { throw .null("info") }
    try writeSized(try find(response, .response, as: ResponseView.self).info, to: info, "info")
  }
}

/// Returns whether the body could be read. Call it after you have copied or processed the body: a body of the cache is in a mapped file,
/// and parts that the disk can't read are zeros.
///
/// @return NH_OK; NH_IO if some bytes may have been zeros; NH_INVALID.
@_cdecl("nh_response_check")
public func nhResponseCheck(_ response: nh_response_ref?) -> nh_status {
  answering { () throws(NuthatchError) in
    try find(response, .response, as: ResponseView.self).response.checkBody()
  }
}

/// Returns the first value of a header; NULL if there is none. Upper and lower case of the name don't matter. The value is valid as long
/// as the response.
///
/// @return NH_OK, also if there is none; NH_INVALID.
@_cdecl("nh_response_header")
public func nhResponseHeader(
  _ response: nh_response_ref?, _ name: UnsafePointer<CChar>?,
  _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(value, "value")
    let view = try find(response, .response, as: ResponseView.self)
    result.pointee = view.value(of: try string(name, "name"))
  }
}

/// Returns the header line number `index`, from 0 in the order of arrival; each repeated header is a line of its own.
///
/// @return NH_OK; NH_INVALID, also if `index` is not below header_count.
@_cdecl("nh_response_header_at")
public func nhResponseHeaderAt(
  _ response: nh_response_ref?, _ index: Int32, _ name: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let (nameResult, valueResult) = (try place(name, "name"), try place(value, "value"))
    let view = try find(response, .response, as: ResponseView.self)
    guard let line = view.line(Int(index)) else {
      throw NuthatchError(
        .invalid,
        "there is no header line \(index); the response has \(view.response.headers.count), from 0: \(view.response.finalURL)"
      )
    }
    (nameResult.pointee, valueResult.pointee) = line
  }
}

/// Returns the interim answer (1xx) number `index`, from 0 in the order of arrival. Set interim->struct_size to sizeof *interim before
/// the call.
///
/// @return NH_OK; NH_INVALID, also if `index` is not below interim_count.
@_cdecl("nh_response_interim_at")
public func nhResponseInterimAt(
  _ response: nh_response_ref?, _ index: Int32, _ interim: UnsafeMutablePointer<nh_interim>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let interim else { throw .null("interim") }
    let view = try find(response, .response, as: ResponseView.self)
    guard let told = view.interim(Int(index)) else {
      throw NuthatchError(
        .invalid,
        "there is no interim answer \(index); the response has \(view.response.interim.count), from 0: \(view.response.finalURL)"
      )
    }
    try writeSized(told, to: interim, "interim")
  }
}

/// Returns the body as text in UTF-8, terminated by NUL, converted on the calling thread. The charset is that of the Content-Type, else
/// UTF-8; bytes that can't be decoded become U+FFFD. The text is valid as long as the response.
///
/// @param text  Gets the address of the first byte.
/// @param size  Gets the number of bytes, without the final NUL; the text may contain others. May be NULL.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_response_text")
public func nhResponseText(
  _ response: nh_response_ref?, _ text: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  _ size: UnsafeMutablePointer<UInt>?
) -> nh_status {
  givingText(response, text, size, isJSON: false)
}

/// Returns the body like nh_response_text, if it is JSON (RFC 8259); fails for any other body.
///
/// @param text  Gets the address of the first byte; NULL on failure.
/// @param size  Gets the number of bytes, without the NUL; 0 on failure. May be NULL.
/// @return NH_OK; NH_WRONG_FORMAT, with the position in the message; NH_INVALID.
@_cdecl("nh_response_json")
public func nhResponseJSON(
  _ response: nh_response_ref?, _ text: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  _ size: UnsafeMutablePointer<UInt>?
) -> nh_status {
  givingText(response, text, size, isJSON: true)
}

private func givingText(
  _ response: nh_response_ref?, _ text: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  _ size: UnsafeMutablePointer<UInt>?, isJSON: Bool
) -> nh_status {
  answering { () throws(NuthatchError) in
    size?.pointee = 0
    let result = try place(text, "text")
    let view = try find(response, .response, as: ResponseView.self)
    if isJSON { try view.response.checkJSON() }
    let made = view.text(isJSON: isJSON)
    result.pointee = made.text[0]
    size?.pointee = UInt(made.count)
  }
}

/// Releases a response and its bytes.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_response_release")
public func nhResponseRelease(_ response: nh_response_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(response, .response) }
}

/// A response with its strings in C form. They are made at first use: a caller that reads only the body needs none.
final class ResponseView: Sendable {
  /// The C forms that were made. Their addresses stay valid until the response is released.
  private struct Shapes {
    var strings: StringArena?
    var lines: HeaderLines?
    var interim: [HeaderLines]?
    /// The body as text, and as JSON.
    var texts: [Bool: (text: StringArena, count: Int)] = [:]
  }

  let response: Response
  private let shapes = Locked(Shapes())

  init(_ response: Response) { self.response = response }

  /// The address of the body, which belongs to the response; never nil.
  var body: (start: UnsafeRawPointer?, count: Int) {
    response.withBody { ($0.baseAddress ?? UnsafeRawPointer(strings[0]), $0.count) }
  }

  var info: nh_response_info {
    let strings = strings
    var info = nh_response_info()
    info.status = Int32(clamping: response.status)
    (info.body, info.body_size) = body
    info.url = strings[0]
    info.final_url = strings[1]
    info.content_type = strings[3]
    info.is_in_cache = response.isInCache ? 1 : 0
    info.source = nh_source(UInt32(response.source.rawValue))
    info.redirects = Int32(clamping: response.redirects)
    info.header_count = Int32(clamping: response.headers.count)
    info.first_byte_us = response.timings.firstByte
    info.total_us = response.timings.total
    info.age = response.age
    info.is_stale = response.isStale ? 1 : 0
    info.is_stored = response.isStored ? 1 : 0
    info.is_removal_due = response.isRemovalDue ? 1 : 0
    info.is_truncated = response.isTruncated ? 1 : 0
    info.is_cut = response.isCut ? 1 : 0
    info.reason = strings[2]
    info.dns_us = response.timings.nameLookup
    info.connect_us = response.timings.connect
    info.tls_us = response.timings.tls
    info.interim_count = Int32(clamping: response.interim.count)
    return info
  }

  func interim(_ index: Int) -> nh_interim? {
    guard response.interim.indices.contains(index) else { return nil }
    let lines = shapes.withLock { shapes in
      shapes.interim.orMade { response.interim.map { HeaderLines($0.headers) } }[index]
    }
    var told = nh_interim()
    told.status = Int32(clamping: response.interim[index].status)
    told.headers = lines.first
    told.header_count = lines.count
    return told
  }

  /// - Parameter isJSON: whether the body is decoded as UTF-8, without regard to the Content-Type.
  func text(isJSON: Bool) -> (text: StringArena, count: Int) {
    shapes.withLock { shapes in
      shapes.texts[isJSON].orMade {
        let text = isJSON ? response.withBody { String(decoding: $0, as: UTF8.self) } : response.text
        return (StringArena([text]), text.utf8.count)
      }
    }
  }

  func value(of name: String) -> UnsafePointer<CChar>? {
    response.indexOfHeader(name).flatMap { line($0)?.value }
  }

  func line(_ index: Int) -> (name: UnsafePointer<CChar>?, value: UnsafePointer<CChar>?)? {
    guard response.headers.indices.contains(index) else { return nil }
    return shapes.withLock { $0.lines.orMade { HeaderLines(response.headers) } }[index]
  }

  /// URL, final URL, reason, and the Content-Type if there is one.
  private var strings: StringArena {
    shapes.withLock { shapes in
      shapes.strings.orMade {
        let type = response.header("Content-Type").map { [$0] } ?? []
        return StringArena([response.url, response.finalURL, response.reason] + type)
      }
    }
  }
}

extension Optional {
  /// Returns the value; makes and stores it if it is nil.
  fileprivate mutating func orMade(_ make: () -> Wrapped) -> Wrapped {
    if let self { return self }
    let made = make()
    self = made
    return made
  }
}

/// Header lines in C form.
// Written in `init` only, then read, hence Sendable.
private final class HeaderLines: @unchecked Sendable {
  private let strings: StringArena
  private let lines: UnsafeMutablePointer<nh_header>
  let count: Int

  init(_ headers: [(name: String, value: String)]) {
    count = headers.count
    strings = StringArena(headers.flatMap { [$0.name, $0.value] })
    lines = .allocate(capacity: max(1, count))
    for index in 0..<count {
      (lines + index).initialize(to: nh_header(name: strings[2 * index], value: strings[2 * index + 1]))
    }
  }

  subscript(index: Int) -> (name: UnsafePointer<CChar>?, value: UnsafePointer<CChar>?) {
    (strings[2 * index], strings[2 * index + 1])
  }

  /// nil if there are no lines.
  var first: UnsafePointer<nh_header>? { count == 0 ? nil : UnsafePointer(lines) }

  deinit { lines.deallocate() }
}
