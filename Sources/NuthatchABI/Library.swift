// nuthatch.h 1: The library and its errors
// Types: nh_errors.h
//
// Every function may be called from any thread. Unless its comment says otherwise, it waits neither for the network nor for the disk, and
// returns NH_INVALID for a wrong handle or NULL.
//
//     if (nh_get(cache, url, NULL, &response) != NH_OK) {
//         nh_error_info info = {.struct_size = sizeof info};
//         nh_error_get_info(&info);
//         fprintf(stderr, "%s: %s\n", nh_status_name(info.code), info.message);
//     }

import CNuthatch
import CSystem
import Glibc
import NuthatchCore

/// The version of the library, such as "0.2.0".
@_cdecl("nh_version")
public func nhVersion() -> UnsafePointer<CChar>? { staticStrings.version }

/// The version of the library as a number, to compare with NH_VERSION_NUM, the version of the header.
@_cdecl("nh_version_num")
public func nhVersionNum() -> UInt32 { UInt32(Version.number) }

/// What is in use in this process, as a JSON object: `version`, that of the library; `simd`, the instructions that pictures are
/// resampled with (avx2, sse2 or scalar); and `libraries`, a list of objects with `name`, `version`, `linked` ("static" if it is a part of
/// the library's file, "dynamic" if not) and `version_from` ("library" if the loaded library said its version; "build" if it can't, and
/// this is the version that the build was made with). libcurl has `uses`, its TLS and other libraries, and `features` besides. Later
/// versions may add members. Never NULL; valid as long as the process.
@_cdecl("nh_build_info")
public func nhBuildInfo() -> UnsafePointer<CChar>? { buildInfo }

/// The stable word of a status, such as "too_large"; "ok" for NH_OK, "unknown" for any other number.
@_cdecl("nh_status_name")
public func nhStatusName(_ status: nh_status) -> UnsafePointer<CChar>? {
  staticStrings.words[status.rawValue] ?? staticStrings.unknown
}

/// The message of the last call on this thread that failed: what happened, to which URL, and what to do. In UTF-8; valid until the next
/// failing call on this thread. Empty if no call has failed. Never NULL.
@_cdecl("nh_error_message")
public func nhErrorMessage() -> UnsafePointer<CChar>? {
  nhs_message_buffer().map { UnsafePointer($0) } ?? staticStrings.unknown
}

/// Returns details of the last call on this thread that failed. Set info->struct_size to sizeof *info before. All pointers are valid
/// until the next failing call on this thread.
///
/// @return NH_OK; if no call has failed, info->code is NH_OK. NH_INVALID.
@_cdecl("nh_error_get_info")
public func nhErrorGetInfo(_ info: UnsafeMutablePointer<nh_error_info>?) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let info else { throw .null("info") }
    var told = nh_error_info()
    if let facts = nhs_last_error()?.pointee {
      told.code = nh_status(facts.code)
      told.http_status = facts.http_status
      told.retry_after = facts.retry_after
      told.outbox_id = facts.outbox_id
    }
    told.message = nhErrorMessage()
    try writeSized(told, to: info, "info")
  }
}

/// Strings that live as long as the process.
private struct StaticStrings: @unchecked Sendable {
  // Pointers to memory that is written here once and never again, hence Sendable.
  let version = permanent(Version.string)
  let unknown = permanent("unknown")
  let words: [UInt32: UnsafePointer<CChar>?] = {
    var words: [UInt32: UnsafePointer<CChar>?] = [NH_OK.rawValue: permanent("ok")]
    for code in ErrorCode.allCases { words[UInt32(code.rawValue)] = permanent(code.word) }
    return words
  }()

  static func permanent(_ text: String) -> UnsafePointer<CChar>? { UnsafePointer(strdup(text)) }
}

private let staticStrings = StaticStrings()
// Apart from the others, because asking the libraries takes longer. Never written again, hence safe.
private nonisolated(unsafe) let buildInfo = StaticStrings.permanent(BuildInfo.current.json)
