import NuthatchCore

/// A difference that there is today.
struct KnownDifference: Sendable {
  enum Worth { case right, wrong }

  let difference: LookupDifference
  let worth: Worth
  /// What is wrong with it, or why it is right.
  let why: String
  /// Exactly where it shows.
  let shows: @Sendable (StoredState, LookupRequest) -> Bool

  private init(
    _ difference: LookupDifference, _ worth: Worth, _ why: String,
    _ shows: @escaping @Sendable (StoredState, LookupRequest) -> Bool
  ) {
    self.difference = difference
    self.worth = worth
    self.why = why
    self.shows = shows
  }

  static let all: [KnownDifference] = ofPeeks + ofHandles + ofInspections + ofInspectedHops

  private static let ofPeeks = [
    KnownDifference(
      .peekSaysOtherwise, .wrong, "A peek at what only max-stale lets pass says that it isn't stale."
    ) { state, request in
      let standings = [state.standing(request.rules)] + (state.isHop ? [state.hopStanding] : [])
      return request.form == .one && request.isMaxStale && state.hasThumbs
        && !standings.contains(.mustValidate) && standings.contains { $0 != .fresh }
    },
    KnownDifference(
      .peekGivesLess, .wrong, "A peek for a response doesn't follow fresh redirects; one for a picture does."
    ) { state, request in
      request.form == .bytes && request.isBare && state.isHop && state.hopStanding == .fresh
        && state.standing() == .fresh && !state.isRemoved
    },
    KnownDifference(
      .peekGivesLess, .right, "What is stale is no peek's to give, although here nobody is asked behind it."
    ) { state, request in
      request.form == .one && request.isOnlyIfCached && request.delivery == .fresh
        && [state.standing(), state.hopStanding].contains(.staleWhileRevalidate)
    },
  ]

  private static let ofHandles = [
    KnownDifference(
      .laterHandleSaysOtherwise, .right, "Failures are remembered in memory only."
    ) { state, request in
      guard request.heedsFailures, request.handles.contains(.later) else { return false }
      return switch state.name {
      case "404, remembered": true
      case "too long, remembered": request.isLimitedInBytes
      // Looked for only where no fresh answer is found that says the same.
      case "no picture", "no picture, body not kept": request.isNoCache || request.isRange
      case "no picture, stale": !request.isMaxStale && !request.asksForHeaders
      default: false
      }
    },
    KnownDifference(
      .laterHandleSaysOtherwise, .wrong,
      "The error about too many pixels says that they are in the cache only if they had to be unpacked."
    ) { state, request in
      request.form == .one && request.isLimitedInPixels && state.width > 100 && state.store != .raw
    },
  ]

  private static let ofInspections = [
    KnownDifference(
      .inspectionSaysOtherwise, .wrong, "An inspection doesn't look for larger thumbnails."
    ) { state, request in
      guard state.isOfLargerThumb, request.wantsPictures, request.isAboutStored, !request.isLimitedInBytes
      else { return false }
      return state.standing() == .fresh ? !request.isLimitedInPixels : !request.isOnlyIfCached
    },
    KnownDifference(
      .inspectionSaysOtherwise, .wrong,
      "An inspection says fetch of a stale picture of too many pixels; the server is asked whether it holds."
    ) { state, request in
      request.isLimitedInPixels && state.hasThumbs && state.hasTag && !state.isHop
        && state.standing() != .fresh
    },
    KnownDifference(
      .inspectionSaysOtherwise, .wrong,
      "An inspection says hit of a body that turns out to have too many pixels."
    ) { state, request in
      request.isLimitedInPixels && state.isBodyAlone && state.standing() == .fresh
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "Without a validator all is asked for; the stored answer stands in where nobody answers."
    ) { state, request in
      !state.hasTag && request.isAboutStored && request.rules != .offline
        && (request.delivery == .fresh || request.delivery == .first && request.wantsVerdict)
        && !request.isOnlyIfCached && !request.isMaxStale
        && !request.isLimitedInBytes && !request.isLimitedInPixels
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "A part of what is stale is asked for anew; the stored part stands in where nobody answers."
    ) { state, request in
      request.form == .bytes && request.isRange && !state.isHop && state.status == 200
        && [.stale, .mustValidate].contains(state.standing()) && state.keepsSource && state.body == .picture
    },
    KnownDifference(
      .inspectionSaysOtherwise, .wrong,
      "An inspection doesn't look at the request's range; of errors and redirects no part is given."
    ) { state, request in
      request.form == .bytes && request.isRange
        && (state.isHop || state.status != 200 && state.makings.first?.rules == .rfc9111)
    },
    KnownDifference(
      .inspectionSaysOtherwise, .wrong, "An inspection knows nothing of failures that are remembered."
    ) { state, request in
      guard request.heedsFailures, request.isAboutStored, !request.isLimitedInBytes else { return false }
      return switch state.name {
      case "no picture", "no picture, body not kept": request.isNoCache
      case "no picture, stale": !request.isMaxStale && !request.asksForHeaders
      default: false
      }
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "That a stale answer can't be decoded is told at once, and the server asked behind it."
    ) { state, request in
      state.name == "no picture, stale" && request.wantsPictures && request.rules == .rfc9111
        && request.delivery == .first
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "What a redirect was followed to can't be asked about where each redirect is an answer, but stands in."
    ) { state, request in
      state.hop?.isAnswer == false && state.standing() == .stale && request.rules == .rfc9111
        && request.delivery == .fresh && !request.isOnlyIfCached && !request.isMaxStale
    },
  ]

  private static let ofInspectedHops = [
    KnownDifference(
      .inspectionSaysOtherwise, .wrong, "An inspection for sizes takes a stored redirect for no picture."
    ) { state, request in
      guard state.isHop, request.wantsPictures, request.isAboutStored else { return false }
      if request.isNoCache { return true }
      guard !state.isRemoved, state.status == 200 else { return false }
      let isFresh = state.hopStanding == .fresh
      if request.isOnlyIfCached {
        let isGiven = isFresh || state.hopStanding == .staleWhileRevalidate && request.delivery == .fresh
        return isGiven && state.standing() == .fresh
      }
      if isFresh, request.isLimitedInBytes { return false }
      return !(isFresh && state.standing() == .fresh && request.isLimitedInPixels)
    },
    KnownDifference(
      .inspectionSaysOtherwise, .wrong,
      "An inspection for bytes doesn't look where a stored redirect leads, nor how that answer stands."
    ) { state, request in
      guard state.isHop, !request.wantsPictures, request.isAboutStored, !request.isNoCache else {
        return false
      }
      let isPassed =
        state.hopStanding == .fresh
        || state.hopStanding == .staleWhileRevalidate && request.delivery == .fresh
      guard isPassed else { return false }
      if request.isLimitedInBytes || state.isRemoved { return true }
      return state.standing() != .fresh && request.rules != .offline && !request.isMaxStale
        && (request.delivery != .first || request.wantsVerdict)
    },
  ]
}
