import Glibc

extension Journal {
  /// Adds a record, and returns when it would survive a loss of power. To be called while changing.
  ///
  /// - Parameter durably: false for what may be lost; it is kept with the next record that isn't.
  /// - Throws: the record isn't there then, or, where not even that could be had, it is whole.
  @discardableResult
  package func append(_ payload: [UInt8], durably: Bool = true) throws(StoreFault) -> JournalPlace {
    guard payload.count <= JournalRecord.longest, let folder else {
      throw StoreFault(.tooLarge, "a record of \(payload.count) bytes is too long for the outbox")
    }
    guard !folder.isReading else { throw Self.canOnlyBeRead }
    let offset = end
    let sequence = next
    let header = JournalRecord.bytes(payload, sequence: sequence, salt: salt, at: offset)
    let after = JournalRecord.end(offset, payload.count)
    let padding = [UInt8](repeating: 0, count: Int(after - offset) - header.count - payload.count)
    do throws(SystemFault) {
      try system.write(header + payload + padding, to: log, at: offset)
      if durably {
        try system.sync(log)
        try system.sync(folder.folder)
      }
    } catch {
      // What stays in spite of it is read by the next one who changes something: cut when torn, else taken.
      try? system.resize(log, offset)
      throw StoreFault(error, "writing into the outbox")
    }
    end = after
    next = sequence + 1
    let place = JournalPlace(offset: offset, length: payload.count, sequence: sequence)
    payload.withUnsafeBytes { reader.take($0, at: place) }
    return place
  }

  /// The payload of a record. To be called while changing.
  package func read(_ place: JournalPlace) throws(StoreFault) -> [UInt8] {
    let found = try doing("reading the outbox") { () throws(SystemFault) in
      try record(at: place.offset, end)
    }
    guard let (header, payload) = found, header.sequence == place.sequence else {
      throw StoreFault(.io, "a record of the outbox is damaged")
    }
    return payload
  }

  /// Leaves out what nobody wants, where that is most of it. What can't be done now is done another time.
  func tidy() {
    let used = end - Int64(JournalHead.length)
    guard used > 4096 else { return }
    let wanted = reader.wantedBytes
    guard wanted == 0 || (used > 1 << 20 && wanted < used / 2) else { return }
    try? rewrite()
  }

  /// Writes the records that are wanted into a new file that takes the old one's place.
  func rewrite() throws(StoreFault) {
    guard let folder else { return }
    var kept: [(UInt64, [UInt8])] = []
    for place in reader.wanted { kept.append((place.sequence, try read(place))) }
    try doing("writing the outbox anew") { () throws(SystemFault) in
      try replace(folder, kept, next: next)
      try readOn(folder, true)
    }
    mustRewrite = false
  }

  func replace(
    _ folder: JournalFolder, _ records: [(UInt64, [UInt8])], next: UInt64
  ) throws(SystemFault) {
    try folder.remove("log.new")
    let (fd, status) = try folder.openFile("log.new", O_RDWR | O_CREAT | O_EXCL)
    let head = JournalHead(salt: .random(in: .min ... .max), next: next)
    do throws(SystemFault) {
      try system.write(head.bytes, to: fd, at: 0)
      var offset = Int64(JournalHead.length)
      for (sequence, payload) in records {
        let header = JournalRecord.bytes(payload, sequence: sequence, salt: head.salt, at: offset)
        try system.write(header + payload, to: fd, at: offset)
        offset = JournalRecord.end(offset, payload.count)
      }
      try system.resize(fd, offset)
      try system.sync(fd)
      try system.rename(folder.folder, "log.new", "log", replaces: true)
      adopt(fd, status.inode, head)
    } catch {
      system.close(fd)
      try? folder.remove("log.new")
      throw error
    }
    try system.sync(folder.folder)
  }
}
