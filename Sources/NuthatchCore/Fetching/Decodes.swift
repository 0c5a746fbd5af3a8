import NuthatchImaging
import NuthatchTransport

/// Where thumbnails of a stored picture come from.
struct PictureSource: Sendable {
  let content: Digest
  /// The URL for messages.
  let url: String
  /// Thumbnails that were made of it already, and aren't kept yet.
  var made: [Recipe: Picture] = [:]
  /// What is stored of them.
  var thumbnails = StoredThumbnails()
  /// The body, if it is there.
  var body: SharedBytes?
  /// What its header says, where that was read before.
  var info: ImageInfo?
}

/// Thumbnails being made from what is stored. Two requests that want the same one wait for one decode. Confined to the
/// loop's thread, hence Sendable.
final class Decodes: @unchecked Sendable {
  typealias Pictures = [Recipe: Result<Picture, NuthatchError>]

  struct Key: Hashable {
    let content: Digest
    let recipe: Recipe
    let limits: ImageLimits
    /// Without it a smaller picture is made of a larger one, or none is made: nothing for who has it.
    let hasBody: Bool

    init(_ source: PictureSource, _ recipe: Recipe, _ maker: PictureMaker) {
      content = source.content
      self.recipe = recipe
      limits = maker.limits
      hasBody = source.body != nil
    }
  }

  /// One request's wait for all of its sizes.
  final class Waiter {
    var missing: Int
    var pictures: Pictures = [:]
    let then: (Pictures) -> Void

    init(missing: Int, then: @escaping (Pictures) -> Void) {
      self.missing = missing
      self.then = then
    }
  }

  private let workers: WorkerPool
  private let loop: EventLoop
  private(set) var underWay: [Key: [Waiter]] = [:]

  init(_ runtime: Runtime) {
    workers = runtime.workers
    loop = runtime.loop
  }

  /// Calls `then` on the loop's thread when every recipe has its picture, or a reason for none.
  ///
  /// - Parameter maker: what decodes, and keeps what it made.
  func pictures(
    _ source: PictureSource, _ recipes: [Recipe], priority: Int, _ maker: PictureMaker,
    then: @escaping (Pictures) -> Void
  ) {
    let wanted = Set(recipes)
    let waiter = Waiter(missing: wanted.count, then: then)
    var new: [Recipe] = []
    for recipe in wanted {
      let key = Key(source, recipe, maker)
      if underWay[key] == nil { new.append(recipe) }
      underWay[key, default: []].append(waiter)
    }
    guard !new.isEmpty else { return }
    let order = new
    maker.make(source, order, priority: priority) { pictures in
      self.loop.post {
        self.tellWaiters(order.map { Key(source, $0, maker) }, pictures)
      }
    }
  }

  private func tellWaiters(_ keys: [Key], _ pictures: Pictures) {
    for key in keys {
      let result = pictures[key.recipe] ?? .failure(NuthatchError(.internal, "no picture came out"))
      for waiter in underWay.removeValue(forKey: key) ?? [] {
        waiter.pictures[key.recipe] = result
        waiter.missing -= 1
        if waiter.missing == 0 { waiter.then(waiter.pictures) }
      }
    }
  }
}
