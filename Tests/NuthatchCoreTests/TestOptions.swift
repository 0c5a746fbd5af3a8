@testable import NuthatchCore

/// The options of a cache, and what takes the place of clock and network beside them.
@dynamicMemberLookup
struct TestOptions: Sendable {
  var options = Options()
  var seams = CacheSeams()

  subscript<Value>(dynamicMember option: WritableKeyPath<Options, Value>) -> Value {
    get { options[keyPath: option] }
    set { options[keyPath: option] = newValue }
  }

  subscript<Value>(dynamicMember seam: WritableKeyPath<CacheSeams, Value>) -> Value {
    get { seams[keyPath: seam] }
    set { seams[keyPath: seam] = newValue }
  }
}

extension Cache {
  convenience init(path: String?, options: TestOptions) throws(NuthatchError) {
    try self.init(path: path, options: options.options, seams: options.seams)
  }
}
