import NuthatchImaging
import NuthatchStore

/// Decodes pictures on the workers' threads and keeps the thumbnails.
struct PictureMaker: Sendable {
  typealias Pictures = PendingDecodes.Pictures

  let workers: WorkerPool
  let thumbnails: Thumbnails
  let keeping: ThumbStore
  /// Whether thumbnails are stored at all.
  var keepsThumbs = true
  /// Whether pixels stay in memory.
  var keepsPixels = true
  let limits: ImageLimits
  let counts: CacheCounts

  /// Makes pictures on a worker's thread and calls `then` there. Without a worker, calls `then` with errors on this thread.
  func make(
    _ source: PictureSource, _ recipes: [Recipe], priority: Int, then: @escaping @Sendable (Pictures) -> Void
  ) {
    let isSubmitted = workers.submit(priority: priority) {
      self.makeHere(source, recipes, priority: priority, then: then)
    }
    if !isSubmitted { then(all(recipes, workers.whyNoJob)) }
  }

  /// Makes pictures; call it on a worker's thread. A decode that needs much memory becomes a job that waits for its turn.
  func makeHere(
    _ source: PictureSource, _ recipes: [Recipe], priority: Int, then: @escaping @Sendable (Pictures) -> Void
  ) {
    var pictures: Pictures = [:]
    var rest: [Recipe] = []
    for recipe in recipes {
      if let picture = source.made[recipe] {
        pictures[recipe] = .success(picture)
        keepPictures([recipe], [picture], source.content, isListed: source.isListed)
      } else if let known = stored(source, recipe) {
        pictures[recipe] = known
      } else {
        rest.append(recipe)
      }
    }
    guard !rest.isEmpty else { return then(pictures) }
    // If the look-up found all sizes, it didn't look for the body, so do that now.
    guard let body = source.body ?? thumbnails.body(source.content) else {
      for recipe in rest { pictures[recipe] = .failure(whyNone(source, recipe)) }
      return then(pictures)
    }
    let info = source.info ?? info(of: body)
    let need = need(of: info, rest)
    guard need > workers.budget.mostWithoutTurn else {
      decode(body, info, source, rest, most: workers.memory, into: &pictures)
      return then(pictures)
    }
    let (done, remaining) = (pictures, rest)
    let isSubmitted = workers.submitDecode(priority: priority, need: need) { most in
      guard let most else { return then(done.merging(self.all(remaining, workers.whyNoJob)) { $1 }) }
      var pictures = done
      self.decode(body, info, source, remaining, most: most, into: &pictures)
      then(pictures)
    }
    if !isSubmitted { then(done.merging(all(rest, workers.whyNoJob)) { $1 }) }
  }

  /// Decodes all sizes at once. Sizes that allow damage and sizes that don't are decoded apart.
  ///
  /// - Parameter most: the most bytes that the decode may hold.
  private func decode(
    _ body: SharedBytes, _ info: ImageInfo?, _ source: PictureSource, _ recipes: [Recipe], most: Int,
    into pictures: inout Pictures
  ) {
    for allowsDamage in [false, true] {
      let group = recipes.filter { $0.allowsDamage == allowsDamage }
      guard !group.isEmpty else { continue }
      counts.decodes.count()
      var options = DecodeOptions(limits)
      workers.budget.limit(&options.limits, to: most)
      options.limits.bytes = max(options.limits.bytes, body.count)
      options.allowDamaged = allowsDamage
      do throws(ImageFault) {
        let made = try body.withBytes { (bytes) throws(ImageFault) in
          try Picture.make(from: bytes, known: info, group.map(\.box), options)
        }
        // If the disk returned zeros for the bytes, the result is no picture.
        guard !body.isBroken else { throw ImageFault(.corrupt, "the picture can't be read from the disk") }
        keepPictures(group, made, source.content, isListed: source.isListed)
        for (recipe, picture) in zip(group, made) { pictures[recipe] = .success(picture) }
      } catch {
        let failure =
          body.isBroken
          ? NuthatchError(.io, "the picture can't be read from the disk: \(source.url)")
          : NuthatchError(error, url: source.url)
        for recipe in group { pictures[recipe] = .failure(failure) }
        if !body.isBroken { store(error, info, source.content, group) }
      }
    }
  }

  /// Stores the reason why there is no picture. If that fails, for example on a full disk, the request still gets the reason.
  private func store(_ fault: ImageFault, _ info: ImageInfo?, _ content: Digest, _ recipes: [Recipe]) {
    guard keepsThumbs, StoredDecodeFailure.isLasting(fault),
      recipes.count == 1 || !mayDependOnSize(info, recipes)
    else { return }
    do throws(StoreFault) {
      try StoredDecodeFailure.write(fault, content, recipes, in: thumbnails.store)
    } catch {
      counts.note(error)
    }
  }

  /// Returns whether one of these sizes may need fewer bytes of the body than the others.
  private func mayDependOnSize(_ info: ImageInfo?, _ recipes: [Recipe]) -> Bool {
    info.flatMap { ScanWatch($0, boxes: recipes.map(\.box)) } != nil
  }

  /// Keeps pictures. If that fails, for example on a full disk, the request still gets them.
  ///
  /// - Parameter isListed: whether the answer's record names the sizes.
  func keepPictures(
    _ recipes: [Recipe], _ pictures: [Picture], _ content: Digest, isListed: Bool = false
  ) {
    for (recipe, picture) in zip(recipes, pictures) {
      let key = ThumbRecord.key(content, recipe)
      if keepsThumbs {
        do throws(StoreFault) {
          try ThumbRecord.write(picture, key, keeping: keeping, in: thumbnails.store)
        } catch {
          counts.note(error)
        }
      }
      if keepsPixels, picture.ownsPixels { thumbnails.remember(picture, key) }
    }
    if keepsThumbs, !isListed { ThumbList.add(recipes, of: content, in: thumbnails.store) }
  }

  /// Returns the picture or the error that is stored, or that was stored meanwhile for another URL.
  private func stored(_ source: PictureSource, _ recipe: Recipe) -> Result<Picture, NuthatchError>? {
    let found = source.thumbnails[recipe]
    // If the thumbnail was unpacked since it was found, don't unpack it again.
    if case .record = found, let kept = thumbnails.inMemory(source.content, recipe),
      let picture = picture(.inMemory(kept), source.content, recipe)
    {
      return .success(picture)
    }
    if let found, let picture = picture(found, source.content, recipe) { return .success(picture) }
    switch thumbnails.find(source.content, recipe) {
    case .undecodable(let fault): return .failure(NuthatchError(fault, url: source.url))
    case .some(let other): return picture(other, source.content, recipe).map { .success($0) }
    case nil: return nil
    }
  }

  /// Returns a stored thumbnail's picture. Nil if it doesn't decode; then it is made again, if the body is stored.
  private func picture(_ thumbnail: StoredThumbnail, _ content: Digest, _ recipe: Recipe) -> Picture? {
    switch thumbnail {
    case .inMemory(let kept): return limits.admits(kept.picture.originalSize) ? kept.picture : nil
    case .undecodable: return nil
    case .record(let stored):
      guard limits.admits(stored.originalSize), let picture = try? stored.picture() else { return nil }
      // A picture that was made from a larger thumbnail is of lower quality, so it isn't kept.
      if keepsPixels, picture.ownsPixels, stored.smaller == nil {
        thumbnails.remember(picture, ThumbRecord.key(content, recipe))
      }
      return picture
    }
  }

  /// Returns the error if there is neither a picture nor a body.
  private func whyNone(_ source: PictureSource, _ recipe: Recipe) -> NuthatchError {
    guard let refusal = source.thumbnails[recipe]?.originalSize.flatMap({ limits.refusal(of: $0) }) else {
      return NuthatchError(.internal, "the stored body is gone: \(source.url)")
    }
    return NuthatchError(refusal, url: source.url)
  }

  private func info(of body: SharedBytes) -> ImageInfo? {
    guard case .found(let info) = body.withBytes({ ImageProbe.probe($0) }) else { return nil }
    return info
  }

  /// Returns the memory that a decode needs. 0 if there is no estimate; then the decoder reports why.
  private func need(of info: ImageInfo?, _ recipes: [Recipe]) -> Int {
    info.flatMap { try? Thumbnailer.memoryNeed($0, boxes: recipes.map(\.box)) } ?? 0
  }

  private func all(_ recipes: [Recipe], _ error: NuthatchError) -> Pictures {
    Pictures(uniqueKeysWithValues: recipes.map { ($0, .failure(error)) })
  }
}
