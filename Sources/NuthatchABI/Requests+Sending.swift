// nuthatch.h 6: Requests: what is sent

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

/// Sends a file's bytes as the body, read while they are sent: no more than a piece of it is ever in memory. Say what they
/// are with a Content-Type header.
///
/// @param path  Looked at when the request is used: one that is missing, or no regular file, is NH_IO then, and so is one
///              that has changed by the time that it is sent. NULL for none.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_body_file")
public func nhRequestSetBodyFile(_ request: nh_request_ref?, _ path: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.upload = try given(path, "path").map { .file($0) }
  }
}

/// Adds a field or some bytes to a form (multipart/form-data), which is then the body.
///
/// @param name       The field's name. Quotes and line breaks are escaped as browsers do.
/// @param data       `size` bytes, copied.
/// @param file_name  What they are called as a file; NULL for a plain field.
/// @param type       Their Content-Type; NULL for none, and for application/octet-stream with a file name.
/// @return NH_OK; NH_INVALID. A type that can't be sent is NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_add_form_data")
public func nhRequestAddFormData(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ data: UnsafeRawPointer?, _ size: UInt,
  _ file_name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let part = FormPart(
      try string(name, "name"), bytes: try copied(data, size, "data"),
      fileName: try given(file_name, "file_name"), type: try given(type, "type"))
    draft.request.addToForm(part)
  }
}

/// Adds a file to a form (multipart/form-data), read while it is sent, as nh_request_set_body_file does.
///
/// @param name       The field's name.
/// @param file_name  What it is called there; NULL for its own name.
/// @param type       Its Content-Type; NULL for application/octet-stream.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_add_form_file")
public func nhRequestAddFormFile(
  _ request: nh_request_ref?, _ name: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?,
  _ file_name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let part = FormPart(
      try string(name, "name"), file: try string(path, "path"), fileName: try given(file_name, "file_name"),
      type: try given(type, "type"))
    draft.request.addToForm(part)
  }
}

/// Adds a field to the body, encoded as browsers send plain forms (application/x-www-form-urlencoded); the Content-Type says
/// so unless the request has one.
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
