import NuthatchCore

/// The summary at the end of a run.
struct Summary {
  var tally: Tally
  var isDryRun: Bool
  /// Bytes of bodies that were received over the network.
  var bytes: Int
  var seconds: Double
  /// Records that were not stored because another process held the cache's lock for too long.
  var heldUp = 0
  var disk: DiskWatch.Report?
  var interruption: ExitCode?
  var exitCode: ExitCode
  /// Why the list could not be read to its end.
  var listFault: String?
  var report: String?

  private var rate: Double { seconds > 0 ? Double(tally.urls) / seconds : 0 }

  /// The text for a human reader.
  var text: String {
    var lines = [isDryRun ? plan : outcome]
    if !tally.errors.isEmpty {
      let reasons = tally.errorsInOrder.map { "\($0.word) \(Amounts.grouped($0.count))" }
      lines.append("  failed: \(reasons.joined(separator: ", "))")
    }
    if tally.stale > 0 { lines.append("  \(Amounts.grouped(tally.stale)) stale") }
    let slow = tally.slowestHosts(3)
    if slow.count > 1 {
      let hosts = slow.map { "\($0.name) \(Amounts.milliseconds($0.mean)) (\(Amounts.grouped($0.urls)))" }
      lines.append("  slowest hosts: \(hosts.joined(separator: ", "))")
    }
    if let disk, let warning = disk.warning { lines.append("  \(warning)") }
    if tally.notKept > 0 {
      let why =
        disk?.readOnly != nil
        ? "the cache can only be read"
        : heldUp > 0
          ? "their servers forbid it, the disk is full, or another process held the lock of the cache"
          : "their servers forbid it or the disk is full"
      lines.append("  \(Amounts.grouped(tally.notKept)) fetched but not kept, because \(why)")
    }
    if heldUp > 0 {
      lines.append(
        "  \(Amounts.grouped(heldUp)) records not kept while another process held the lock of the cache")
    }
    if interruption != nil { lines.append("  interrupted; run again to continue where this run stopped") }
    if let report { lines.append("  report: \(report)") }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let prospects = [StoredAnswerInfo.Prospect.hit, .revalidate, .fetch, .refuse]

  private var urls: String { Amounts.counted(tally.urls, "URL") }

  private var plan: String {
    let counts = Self.prospects.map { Amounts.grouped(tally.planned[$0] ?? 0) }
    let refused = tally.planned[.refuse, default: 0] > 0 ? ", \(counts[3]) would be refused" : ""
    return urls + ": \(counts[0]) would hit, \(counts[1]) would be revalidated, "
      + "\(counts[2]) would be fetched\(refused)"
  }

  private var outcome: String {
    var parts = [Amounts.counted(tally.hits, "hit"), "\(Amounts.grouped(tally.fetched)) fetched"]
    if tally.revalidated > 0 { parts.append("\(Amounts.grouped(tally.revalidated)) revalidated") }
    parts.append("\(Amounts.grouped(tally.failed)) failed")
    return urls + ": \(parts.joined(separator: ", ")); \(Amounts.bytes(Int64(bytes))) in "
      + "\(Amounts.seconds(seconds)) (\(Amounts.grouped(Int(rate.rounded()))) a second)"
  }

  /// One line of JSON, for programs.
  var json: String { line { _ in } }

  /// The JSON for the report, with further members for the page.
  func forPage(made: Int64) -> String {
    line { json in
      json.put("made", made)
      json.put("version", Version.string)
      json.put("warning", disk?.warning)
    }
  }

  private func line(_ addMore: (inout JSONText) -> Void) -> String {
    JSONText.line { json in
      json.put("urls", tally.urls)
      json.put("ok", tally.succeeded)
      json.put("failed", tally.failed)
      json.put("hits", tally.hits)
      json.put("fetched", tally.fetched)
      json.put("revalidated", tally.revalidated)
      json.put("stale", tally.stale)
      json.put("not_kept", tally.notKept)
      json.put("dropped", disk?.dropped ?? 0)
      json.put("held_up", heldUp)
      json.object("errors") { json in
        for (word, count) in tally.errorsInOrder { json.put(word, count) }
      }
      json.object("formats") { json in
        for (word, count) in tally.formatsInOrder { json.put(word, count) }
      }
      if isDryRun {
        json.object("plan") { json in
          for prospect in Self.prospects {
            json.put(prospect.rawValue, tally.planned[prospect] ?? 0)
          }
        }
      }
      json.put("bytes", bytes)
      json.put(thousandths: Int64(seconds * 1000), "seconds")
      json.put(thousandths: Int64(rate * 1000), "rate")
      json.objects("slowest_hosts", tally.slowestHosts(5)) { json, host in
        json.put("host", host.name)
        json.put("urls", host.urls)
        json.put("failed", host.failed)
        json.put(thousandths: host.mean, "mean_ms")
        json.put(thousandths: host.longest, "longest_ms")
      }
      if let disk { disk.write(to: &json) }
      json.put("interrupted", interruption?.signalName)
      json.put("list_fault", listFault)
      json.put("exit", exitCode.rawValue)
      addMore(&json)
    }
  }
}

/// Numbers, sizes and times as text for a human reader.
enum Amounts {
  /// `12,345`
  static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude).utf8)
    var text: [UInt8] = number < 0 ? [UInt8(ascii: "-")] : []
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text.append(UInt8(ascii: ",")) }
      text.append(digit)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// `1 URL`, `12,345 URLs`
  static func counted(_ count: Int, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// `1.5 GB`, in powers of ten, as the sizes of disks. In an option, `G` is 2^30.
  static func bytes(_ count: Int64) -> String {
    guard count >= 1000 else { return "\(count) B" }
    var amount = Double(count)
    var unit = ""
    for next in ["kB", "MB", "GB", "TB"] where amount >= 999.5 || unit.isEmpty {
      amount /= 1000
      unit = next
    }
    return "\(decimal(amount, amount < 9.95 ? 1 : 0)) \(unit)"
  }

  /// `0.8 s`, `42 s`, `3 min 20 s`, `2 h 5 min`
  static func seconds(_ seconds: Double) -> String {
    if seconds < 59.5 { return "\(decimal(seconds, seconds < 9.95 ? 1 : 0)) s" }
    let whole = Int(min(seconds, 1e9).rounded())
    return whole < 3600 ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3600) h \(whole / 60 % 60) min"
  }

  static func milliseconds(_ microseconds: Int64) -> String {
    microseconds < 9_950
      ? "\(decimal(Double(microseconds) / 1000, 1)) ms" : "\((microseconds + 500) / 1000) ms"
  }

  private static func decimal(_ number: Double, _ digits: Int) -> String {
    guard digits > 0 else { return String(Int(number.rounded())) }
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
