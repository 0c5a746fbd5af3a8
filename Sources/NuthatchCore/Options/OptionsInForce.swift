extension Cache {
  /// The options in force for the requests of this cache. An option of the directory (such as `diskBytes`) that wasn't set at
  /// the open has the value of the directory's first open in this process. Any other option that wasn't set has its default.
  ///
  /// - Throws: `closed`; `forked`.
  public var optionsInForce: Options {
    get throws(NuthatchError) {
      let store = try storeStatistics()
      var result = options.settled
      result.diskBytes = Int64(store.diskLimit)
      result.memoryBytes = Int64(store.memory.limit)
      result.memoryItems = shared.store.memoryItems
      result.spill = shared.store.spillsLate ? .pressure : .eager
      result.checkBytes = shared.store.checksAlways ? .always : .first
      result.thumbStore = shared.settings.thumbs
      result.keepSource = shared.settings.keepsSource
      result.outboxBytes = shared.settings.outboxBytes
      result.outboxItems = shared.settings.outboxItems
      return result
    }
  }
}

extension Site {
  /// The options in force for the requests of this site at its origin.
  public var optionsInForce: Options { options.over(cache.options).settled }
}
