import CNuthatch
import Glibc
import NuthatchCore

/// Converts a notification to a C event.
func cEvent(_ notification: Notification) -> nh_event {
  var told = nh_event()
  told.struct_size = UInt32(MemoryLayout<nh_event>.size)
  told.user_data = notification.listening.userData
  told.retry_after = -1
  (told.bytes_done, told.bytes_total) = (-1, -1)
  switch notification.notice {
  case .ended(let item):
    told.kind = NH_EVENT_OUTCOME
    told.outbox_id = item.id
    told.http_status = Int32(clamping: item.status)
    told.code = item.cCode
    told.message = item.reason.flatMap { strdup($0) }
    do throws(NuthatchError) {
      try give(FrozenView(item), .frozen, to: &told.frozen)
    } catch {
      // The event at least has the number.
      told.frozen = nil
    }
  case .secretWanted(let provider):
    told.kind = NH_EVENT_QUESTION
    told.question = NH_ASK_SECRET
    told.message = strdup(provider)
  case .reachability(let site, let isReachable):
    told.kind = NH_EVENT_REACHABILITY
    told.is_reachable = isReachable ? 1 : 0
    told.message = strdup(site)
  case .activity(let isBusy):
    told.kind = isBusy ? NH_EVENT_BUSY : NH_EVENT_IDLE
  }
  return told
}

/// Calls the listener's callback on this thread, and frees what it leaves in the event.
func tell(_ notification: Notification) {
  guard let callback = notification.listening.callback else { return }
  lend(cEvent(notification), to: callback)
}

/// Converts an event to C. If no handle is left for its result, the event becomes a failure instead of being lost.
func cEvent(_ event: Event, of view: TicketView) -> nh_event {
  var told = blankEvent(event, view)
  do throws(NuthatchError) {
    if let response = event.response {
      told.bytes_done = Int64(response.bodySize)
      told.bytes_total = told.bytes_done
      try give(ResponseView(response), .response, to: &told.response)
    }
    if let image = event.images.first {
      if event.response == nil {
        (told.bytes_done, told.bytes_total) = (image.sourceBytes, image.sourceBytes)
      }
      try putImages(event.images, into: &told)
    }
    if let error = event.error { put(error, into: &told) }
    if event.kind == .data { try put(event.data, into: &told) }
    if let question = event.question { try put(question, into: &told, of: view) }
  } catch {
    // Free what was made so far.
    try? giveBack(&told)  // can't fail: its handles are new
    told = blankEvent(event, view)
    told.kind = event.isFinal ? NH_EVENT_FAILED : told.kind
    put(error, into: &told)
  }
  return told
}

private func blankEvent(_ event: Event, _ view: TicketView) -> nh_event {
  var told = nh_event()
  told.struct_size = UInt32(MemoryLayout<nh_event>.size)
  told.ticket = view.handle
  told.user_data = view.userData
  told.kind = nh_event_kind(UInt32(event.kind.rawValue))
  told.is_final = event.isFinal ? 1 : 0
  told.is_in_cache = event.isInCache ? 1 : 0
  told.is_stale = event.isStale ? 1 : 0
  told.is_stored = event.isStored ? 1 : 0
  told.source = nh_source(UInt32(event.source?.rawValue ?? 0))
  told.http_status = Int32(clamping: event.status ?? 0)
  told.retry_after = -1
  told.is_upload = event.isUpload ? 1 : 0
  told.bytes_done = event.bytesDone
  told.bytes_total = event.bytesTotal ?? -1
  return told
}

private func put(_ data: [UInt8], into told: inout nh_event) throws(NuthatchError) {
  guard let copy = malloc(max(data.count, 1)) else {
    throw NuthatchError(.outOfMemory, "no memory for \(data.count) bytes of an answer")
  }
  _ = data.withUnsafeBytes { memcpy(copy, $0.baseAddress ?? UnsafeRawPointer(copy), data.count) }
  told.data = copy
  told.data_size = data.count
}

private func put(_ error: NuthatchError, into told: inout nh_event) {
  told.code = nh_status(UInt32(error.code.rawValue))
  told.message = strdup(error.message)
  told.http_status = Int32(clamping: error.status ?? 0)
  told.retry_after = Int32(clamping: error.retryAfter ?? -1)
  told.outbox_id = error.outboxID ?? 0
}

private func put(_ question: Question, into told: inout nh_event, of view: TicketView) throws(NuthatchError) {
  told.question = nh_question(question.kind.bit)
  told.message = strdup(question.url)
  view.question.withLock { $0 = question }
  guard let response = question.response else { return }
  told.http_status = Int32(clamping: response.status)
  try give(ResponseView(response), .response, to: &told.response)
}

private func putImages(_ images: [Image], into told: inout nh_event) throws(NuthatchError) {
  let bytes = images.count * MemoryLayout<nh_image_ref?>.stride
  guard let list = malloc(bytes)?.bindMemory(to: nh_image_ref?.self, capacity: images.count) else {
    throw NuthatchError(.outOfMemory, "no memory for \(images.count) images")
  }
  list.initialize(repeating: nil, count: images.count)
  told.images = list
  told.image_count = images.count
  for (index, image) in images.enumerated() { try give(image, .image, to: list + index) }
}

/// Frees everything that an event owns, up to its `struct_size`, and zeroes it.
func giveBack(_ place: UnsafeMutablePointer<nh_event>) throws(NuthatchError) {
  let size = Int(place.pointee.struct_size)
  guard size <= MemoryLayout<nh_event>.size else {
    throw NuthatchError(.invalid, "event.struct_size is \(size), more than this library's nh_event has")
  }
  var old = nh_event()
  withUnsafeMutableBytes(of: &old) { $0.copyMemory(from: UnsafeRawBufferPointer(start: place, count: size)) }
  memset(place, 0, size)
  try giveBack(old)
}

private func giveBack(_ old: nh_event) throws(NuthatchError) {
  free(old.message)
  free(old.data)
  var failure: NuthatchError?
  func end(_ handle: OpaquePointer?, _ kind: HandleKind) {
    guard handle != nil else { return }
    do throws(NuthatchError) { try remove(handle, kind) } catch { failure = error }
  }
  end(old.response, .response)
  end(old.frozen, .frozen)
  if let images = old.images {
    for index in 0..<Int(old.image_count) { end(images[index], .image) }
    free(images)
  }
  if let failure { throw failure }
}

/// Calls a program's function with an event, on this thread, and frees what it leaves in the event.
private func lend(_ event: nh_event, to callback: nh_callback) {
  let room = roomOfNewerEvents
  withUnsafeTemporaryAllocation(byteCount: room, alignment: MemoryLayout<nh_event>.alignment) { bytes in
    guard let base = bytes.baseAddress else { return }
    // A newer program may read members after those of this library. They are zero.
    memset(base, 0, room)
    base.storeBytes(of: event, as: nh_event.self)
    let place = base.assumingMemoryBound(to: nh_event.self)
    callback(place, event.user_data)
    // The callback has taken out the handles that it keeps. A handle that is no longer open was released by the callback.
    try? giveBack(place)
  }
}

private let roomOfNewerEvents = 512

/// Calls a ticket's callback with an event, on this thread, and frees what it leaves in the event.
func tell(_ view: TicketView, of event: Event) {
  guard let callback = view.callback else { return }
  var told = cEvent(event, of: view)
  // The program needs a ticket to answer a question. If it has none, it gets a handle for the duration of the call.
  var lent: nh_ticket_ref?
  if event.question != nil, told.ticket == nil {
    try? give(view, .ticket, to: &lent)  // without a handle, the question stays unanswered
    told.ticket = lent
  }
  lend(told, to: callback)
  if lent != nil { try? remove(lent, .ticket) }  // the callback may have released it
}

/// The caller's array for events: `count` elements, each of the size in the caller's header.
struct EventPlaces {
  private let base: UnsafeMutableRawPointer
  private let stride: Int
  let count: Int

  init(_ events: UnsafeMutablePointer<nh_event>?, count: UInt, size: UInt) throws(NuthatchError) {
    guard let events else { throw .null("events") }
    guard let stride = Int(exactly: size), (Int(nh_oldest_event_size)...65_536).contains(stride),
      stride.isMultiple(of: MemoryLayout<nh_event>.alignment)
    else {
      throw NuthatchError(
        .invalid, "event_size is \(size), which no version has; here it is \(MemoryLayout<nh_event>.size)")
    }
    base = UnsafeMutableRawPointer(events)
    self.stride = stride
    self.count = Int(clamping: min(count, UInt(Int32.max)))
  }

  func clear(_ index: Int) { memset(base + index * stride, 0, stride) }

  /// A newer program has space for more members than this library writes, an older one for fewer.
  func put(_ event: nh_event, at index: Int) {
    clear(index)
    let known = min(stride, MemoryLayout<nh_event>.size)
    var event = event
    event.struct_size = UInt32(known)
    withUnsafeBytes(of: event) {
      (base + index * stride).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(base), byteCount: known)
    }
    guard known < MemoryLayout<nh_event>.size else { return }
    // Free what the members after `known` own: the program doesn't know them.
    withUnsafeMutableBytes(of: &event) { _ = memset($0.baseAddress ?? base, 0, known) }
    try? giveBack(event)
  }
}
