import CNuthatch
import NuthatchCore

/// A request in the outbox with its strings in C form.
final class FrozenView: Sendable {
  let item: Outbox.Item
  private let strings: StringArena

  init(_ item: Outbox.Item) {
    self.item = item
    let texts = [item.method, item.url, item.queue, item.handler, item.tag, item.key, item.reason]
    strings = StringArena(texts.map { $0 ?? "" } + item.history.map(\.reason))
  }

  var info: nh_frozen_info {
    var info = nh_frozen_info()
    info.state = nh_frozen_state(UInt32(item.state.rawValue))
    info.id = item.id
    info.method = strings[0]
    info.url = strings[1]
    info.queue = strings[2]
    info.handler = item.handler == nil ? nil : strings[3]
    info.tag = item.tag == nil ? nil : strings[4]
    info.key = item.key == nil ? nil : strings[5]
    info.reason = item.reason == nil ? nil : strings[6]
    info.body_size = item.bodyBytes
    info.frozen_at = item.frozenAt
    info.wait = item.wait ?? -1
    info.attempts = Int32(clamping: item.attempts)
    info.http_status = Int32(clamping: item.status)
    info.code = item.cCode
    info.history_count = Int32(clamping: item.history.count)
    return info
  }

  func attempt(_ index: Int) -> nh_frozen_attempt? {
    guard item.history.indices.contains(index) else { return nil }
    let found = item.history[index]
    var told = nh_frozen_attempt()
    told.code = nh_status(UInt32(found.code?.rawValue ?? 0))
    told.time = found.time
    told.http_status = Int32(clamping: found.status)
    told.reason = strings[7 + index]
    return told
  }
}

extension Outbox.Item {
  /// The reason why it isn't done; NH_OK if it is done or has no error so far.
  var cCode: nh_status {
    if state == .done { return NH_OK }
    if let code { return nh_status(UInt32(code.rawValue)) }
    if status > 0 { return NH_HTTP }
    // Too old, too many attempts, or its Idempotency-Key has expired.
    return state == .dead ? NH_TIMEOUT : NH_OK
  }
}
