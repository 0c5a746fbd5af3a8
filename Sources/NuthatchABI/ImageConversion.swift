// nuthatch.h 6: Convert and encode images
//
// These functions work on the calling thread.
//
//     const void *bytes;
//     size_t size;
//     if (nh_image_encode(image, NH_FORMAT_JPEG, 0, &bytes, &size) == NH_OK) fwrite(bytes, 1, size, file);
//     if (nh_image_encode(image, NH_FORMAT_WEBP, 80, &bytes, &size) == NH_OK) fwrite(bytes, 1, size, file);

import CNuthatch
import Glibc
import NuthatchCore

/// Writes an image's pixels into the caller's buffer, in another format.
///
/// @param buffer    Gets the rows; bytes between rows aren't changed.
/// @param capacity  The bytes of the buffer.
/// @param stride    Bytes from one row to the next; 0 for no space between rows.
/// @return NH_OK; NH_INVALID, also if the buffer is too small for the last row, or the stride for a row.
@_cdecl("nh_image_convert")
public func nhImageConvert(
  _ image: nh_image_ref?, _ format: nh_pixels, _ buffer: UnsafeMutableRawPointer?, _ capacity: UInt,
  _ stride: UInt
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let buffer else { throw .null("buffer") }
    let image = try find(image, .image, as: Image.self)
    try image.convert(
      to: try pixelFormat(format),
      into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(clamping: capacity)),
      stride: stride == 0 ? nil : Int(clamping: stride))
  }
}

/// Returns an image's pixels in another format, without space between rows. They are valid as long as the image; a second call for the
/// same format costs nothing.
///
/// @param pixels  Gets the address of the first byte.
/// @param size    Gets the number of bytes.
/// @return NH_OK; NH_INVALID; NH_OUT_OF_MEMORY.
@_cdecl("nh_image_pixels")
public func nhImagePixels(
  _ image: nh_image_ref?, _ format: nh_pixels, _ pixels: UnsafeMutablePointer<UnsafeRawPointer?>?,
  _ size: UnsafeMutablePointer<UInt>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(pixels, "pixels")
    guard let size else { throw .null("size") }
    size.pointee = 0
    let image = try find(image, .image, as: Image.self)
    let format = try pixelFormat(format)
    if format == .rgba {
      // The image owns these pixels, so the address stays valid after the call.
      return image.withPixels {
        result.pointee = $0.baseAddress
        size.pointee = UInt($0.count)
      }
    }
    let made = try ImageCompanion.of(image).converted(image, format)
    result.pointee = UnsafeRawPointer(made.bytes.baseAddress)
    size.pointee = UInt(made.bytes.count)
  }
}

/// Encodes an image as a file. The bytes are valid as long as the image; a second call for the same format costs nothing.
///
/// @param quality  For JPEG and WebP 1 to 100, 0 for 92 and 90. For PNG and lossless WebP 0, or 100 for the smallest file, which takes
///                 much longer.
/// @param bytes    Gets the address of the first byte.
/// @param size     Gets the number of bytes.
/// @return NH_OK; NH_INVALID; NH_OUT_OF_MEMORY.
@_cdecl("nh_image_encode")
public func nhImageEncode(
  _ image: nh_image_ref?, _ format: nh_format, _ quality: Int32,
  _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?,
  _ size: UnsafeMutablePointer<UInt>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(bytes, "bytes")
    guard let size else { throw .null("size") }
    size.pointee = 0
    let image = try find(image, .image, as: Image.self)
    let encoded = try ImageCompanion.of(image).encoded(image, try encodedFormat(format, quality))
    // The image keeps the encoded file, so the address stays valid after the call.
    encoded.withBytes { content in
      result.pointee = content.baseAddress
      size.pointee = UInt(content.count)
    }
  }
}

private func pixelFormat(_ format: nh_pixels) throws(NuthatchError) -> PixelFormat {
  guard let known = PixelFormat(rawValue: Int32(bitPattern: format.rawValue)) else {
    throw .unknownValue("format", format.rawValue, of: "nh_pixels")
  }
  return known
}

private func encodedFormat(_ format: nh_format, _ quality: Int32) throws(NuthatchError) -> EncodedFormat {
  switch format {
  case NH_FORMAT_PNG:
    return .png(small: try isSmall(quality, "a PNG"))
  case NH_FORMAT_JPEG:
    return .jpeg(quality: quality == 0 ? 92 : Int(quality))
  case NH_FORMAT_WEBP:
    return .webp(quality: quality == 0 ? 90 : Int(quality))
  case NH_FORMAT_WEBP_LOSSLESS:
    return .losslessWebP(small: try isSmall(quality, "a lossless WebP"))
  default:
    throw .unknownValue("format", format.rawValue, of: "nh_format")
  }
}

private func isSmall(_ quality: Int32, _ what: String) throws(NuthatchError) -> Bool {
  guard quality == 0 || quality == 100 else {
    throw NuthatchError(.invalid, "quality is \(quality); for \(what) it must be 0 or 100")
  }
  return quality == 100
}

/// Pixels in memory from `malloc`, so that a failed allocation is an error and not a trap.
final class MadePixels: @unchecked Sendable {
  // Written in `init` only, then read, hence Sendable.
  let format: PixelFormat
  let bytes: UnsafeMutableRawBufferPointer

  init(_ format: PixelFormat, of image: Image) throws(NuthatchError) {
    let (count, overflow) = (image.width * format.bytesPerPixel).multipliedReportingOverflow(by: image.height)
    guard !overflow, let memory = malloc(max(1, count)) else {
      throw NuthatchError(.outOfMemory, "no memory for \(image.width)x\(image.height) pixels")
    }
    self.format = format
    bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
    try image.convert(to: format, into: bytes)
  }

  deinit { free(bytes.baseAddress) }
}
