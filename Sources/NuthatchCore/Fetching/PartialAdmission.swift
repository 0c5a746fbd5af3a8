import NuthatchTransport

/// What becomes of an answer whose transfer was ended because its thumbnails were done, on a worker's thread.
///
/// Without all bytes there is no digest of them. The thumbnails are kept under one of the URL and the strong validator instead,
/// which says as much; they answer for nothing but themselves.
struct PartialAdmission: Sendable {
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

  /// - Returns: what the thumbnails are kept under; nil when they aren't.
  private func store() -> Digest? {
    let (plan, shared) = (arrival.plan, arrival.shared)
    guard plan.isShared, let tag = arrival.head.strongTag else { return nil }
    var content = arrival.digest("partial", [tag])
    var meta = arrival.meta
    meta.isPicture = true
    meta.bodyLength = announced
    guard arrival.mayStore(meta) else { return nil }
    if let whole = arrival.present, !whole.isPartial, whole.head.strongTag == tag,
      let known = whole.content
    {
      // The same bytes were here once, whole: these thumbnails join the others.
      content = known
    } else {
      meta.isPartial = true
    }
    meta.content = content
    shared.maker(plan.limits).keep(Array(pictures.keys), Array(pictures.values), content)
    guard arrival.write(meta, began: arrival.began) else { return nil }
    shared.rememberedFailures.forget(plan.name)
    return content
  }
}

extension ResponseHead {
  /// The validator that stands for these very bytes; nil where there is none.
  fileprivate var strongTag: String? {
    guard let tag = fields["ETag"], tag.hasPrefix("\""), tag.count > 2 else { return nil }
    return tag
  }
}
