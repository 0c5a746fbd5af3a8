// nuthatch.h 12: Requests: body and form
// Types: nh_sending.h
//
//     nh_request_set(request, NH_OPTIONS(.method = "POST"));
//     nh_request_add_part(request, NH_PART(.name = "title", .data = "A nut", .size = 5));
//     nh_request_add_part(request, NH_PART(.name = "picture", .path = "nut.jpg", .type = "image/jpeg"));

import CNuthatch
import NuthatchCore

/// Sets the body: `size` bytes, copied. NULL and 0 for none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_body")
public func nhRequestSetBody(_ request: nh_request_ref?, _ body: UnsafeRawPointer?, _ size: UInt) -> nh_status
{
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.body = try copied(body, size, "body")
  }
}

/// Sends a file's bytes as the body. They are read while they are sent, one piece at a time. Set a Content-Type header for them.
///
/// @param path  Checked when the request is used: a missing file, or one that isn't a regular file, is NH_IO then, and so is a file that
///              has changed before it is sent. NULL for none.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_body_file")
public func nhRequestSetBodyFile(_ request: nh_request_ref?, _ path: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.upload = try given(path, "path").map { .file($0) }
  }
}

/// Adds a part to a form (multipart/form-data), which is then the body: a plain field, bytes as a file, or a file.
///
/// @return NH_OK; NH_INVALID. When the request is used, a type that can't be sent is NH_BAD_HEADER, and a file is checked as in
///         nh_request_set_body_file.
@_cdecl("nh_request_add_part")
public func nhRequestAddPart(_ request: nh_request_ref?, _ part: UnsafePointer<nh_part>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    guard let part else { throw .null("part") }
    let said = try readSized(part, zero: nh_part(), "part")
    guard said.reserved == 0 else { throw NuthatchError(.invalid, "part.reserved is not 0") }
    let name = try string(said.name, "part.name")
    let fileName = try given(said.file_name, "part.file_name")
    let type = try given(said.type, "part.type")
    guard let path = try given(said.path, "part.path") else {
      let bytes = try copied(said.data, UInt(said.size), "part.data")
      return draft.request.addToForm(FormPart(name, bytes: bytes, fileName: fileName, type: type))
    }
    guard said.data == nil, said.size == 0 else {
      throw NuthatchError(.invalid, "part.data and part.path exclude each other")
    }
    draft.request.addToForm(FormPart(name, file: path, fileName: fileName, type: type))
  }
}

/// Adds a field to the body, encoded like a plain web form (application/x-www-form-urlencoded). Sets the Content-Type unless the request
/// has one.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_add_field")
public func nhRequestAddField(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let field = Upload.urlEncoded([(try string(name, "name"), try string(value, "value"))])
    draft.request.body += (draft.request.body.isEmpty ? [] : [UInt8(ascii: "&")]) + field
    draft.request.setMissing("Content-Type", "application/x-www-form-urlencoded")
  }
}

private func copied(_ bytes: UnsafeRawPointer?, _ size: UInt, _ name: String) throws(NuthatchError)
  -> [UInt8]
{
  guard bytes != nil || size == 0 else { throw .null(name) }
  guard let count = Int(exactly: size) else {
    throw NuthatchError(.invalid, "size is larger than any object")
  }
  return Array(UnsafeRawBufferPointer(start: bytes, count: count))
}
