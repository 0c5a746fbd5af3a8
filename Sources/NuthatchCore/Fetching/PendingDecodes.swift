import NuthatchImaging
import NuthatchTransport

/// The source of a picture's thumbnails.
struct PictureSource: Sendable {
  let content: Digest
  /// The URL for messages.
  let url: String
  /// Thumbnails that were made already and aren't stored yet.
  var made: [Recipe: Picture] = [:]
  /// Whether the answer's record names the sizes that are to be made (`AnswerRecord.sizes`).
  var isListed = false
  /// The stored thumbnails.
  var thumbnails = StoredThumbnails()
  /// The body, if it was read or received.
  var body: SharedBytes?
  /// The information of the picture's header, if it was read before.
  var info: ImageInfo?
}

/// The decodes under way. Requests for the same thumbnail share one decode. Confined to the loop's thread, hence Sendable.
final class PendingDecodes: @unchecked Sendable {
  typealias Pictures = [Recipe: Result<Picture, NuthatchError>]

  struct Key: Hashable {
    let content: Digest
    let recipe: Recipe
    let limits: ImageLimits
    /// Without the body, a thumbnail is made from a larger one or not at all. A request that has the body must not share that.
    let hasBody: Bool

    init(_ source: PictureSource, _ recipe: Recipe, _ maker: PictureMaker) {
      content = source.content
      self.recipe = recipe
      limits = maker.limits
      hasBody = source.body != nil
    }
  }

  /// A request's wait for all of its sizes.
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

  /// Calls `then` on the loop's thread when every recipe has its picture or an error.
  ///
  /// - Parameter maker: decodes the pictures and keeps them.
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
      let result =
        pictures[key.recipe] ?? .failure(NuthatchError(.internal, "the decoder returned no picture"))
      for waiter in underWay.removeValue(forKey: key) ?? [] {
        waiter.pictures[key.recipe] = result
        waiter.missing -= 1
        if waiter.missing == 0 { waiter.then(waiter.pictures) }
      }
    }
  }
}
