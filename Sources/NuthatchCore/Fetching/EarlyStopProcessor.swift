import NuthatchTransport

/// Processes, on a worker's thread, an answer whose transfer was stopped because its thumbnails were done.
///
/// The digest of the body is unknown. So the thumbnails are stored under a digest of the URL and the strong validator, which
/// also identifies the bytes. The stored answer is used only for these thumbnails.
struct EarlyStopProcessor: Sendable {
  let arrival: ReceivedAnswer
  let announced: Int64
  let pictures: [Recipe: Picture]

  func run(_ tiers: SearchedTiers, then: @escaping @Sendable (FetchOutcome?) -> Void) {
    var provenance = arrival.provenance
    provenance.content = store()
    provenance.isStored = provenance.content != nil
    tiers.ended(provenance.isStored ? .stored : .notStored)
    let pictures = pictures.mapValues { Result<Picture, NuthatchError>.success($0) }
    let head = arrival.head
    then(
      .answered(
        FetchedAnswer(head: head, body: .empty, content: nil, pictures: pictures, provenance: provenance)))
  }

  /// - Returns: the digest under which the thumbnails are stored. Nil if they aren't stored.
  private func store() -> Digest? {
    let (plan, shared) = (arrival.plan, arrival.shared)
    guard plan.isShareable, let tag = arrival.head.strongTag else { return nil }
    var content = arrival.digest("partial", [tag])
    var meta = arrival.meta
    meta.isPicture = true
    meta.bodyLength = announced
    guard arrival.mayStore(meta) else { return nil }
    if let whole = arrival.present, !whole.isPartial, whole.head.strongTag == tag,
      let known = whole.content
    {
      // The whole body with this validator was stored before. Store these thumbnails beside its others.
      content = known
    } else {
      meta.isPartial = true
    }
    meta.content = content
    shared.maker(plan.limits).keepPictures(Array(pictures.keys), Array(pictures.values), content)
    guard arrival.write(meta, began: arrival.began) else { return nil }
    shared.rememberedFailures.forget(plan.name)
    return content
  }
}

extension ResponseHead {
  /// The strong ETag, which identifies the exact bytes. Nil if there is none.
  fileprivate var strongTag: String? {
    guard let tag = fields["ETag"], tag.hasPrefix("\""), tag.count > 2 else { return nil }
    return tag
  }
}
