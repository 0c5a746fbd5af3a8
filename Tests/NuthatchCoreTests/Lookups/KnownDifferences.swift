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

  static let all: [KnownDifference] = ofHandles + ofInspections

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
      case "no picture, stale": !request.isMaxStale
      default: false
      }
    }
  ]

  private static let ofInspections = [
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "How many pixels a body has is known when it is decoded."
    ) { state, request in
      request.isLimitedInPixels && state.isBodyAlone && state.standing() == .valid
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "Without a validator all is asked for; the stored answer stands in where nobody answers."
    ) { state, request in
      !state.hasTag && request.isAboutStored && request.rules != .offline
        && (request.delivery == .fresh || request.isLimitedInBytes
          || request.delivery == .first && request.wantsVerdict)
        && !request.isOnlyIfCached && !request.isMaxStale
        && (!request.isLimitedInPixels || state.hasThumbs)
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "A part of what is stale is asked for anew; the stored part stands in where nobody answers."
    ) { state, request in
      request.form == .bytes && request.isRange && !state.isHop && state.status == 200
        && [.stale, .mustValidate].contains(state.standing()) && state.keepsSource && state.body == .picture
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "That a stale answer can't be decoded is told at once, and the server asked behind it."
    ) { state, request in
      state.name == "no picture, stale" && request.wantsPictures && request.delivery == .first
        && !request.wantsVerdict
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "Nothing is shown of what can't be decoded, and nobody could be asked."
    ) { state, request in
      state.name == "no picture, stale" && request.isOnlyIfCached && request.form == .one
        && request.delivery == .twice
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right, "It is refused at once, and the server is asked behind that."
    ) { state, request in
      guard request.delivery == .fresh, request.isAboutStored else { return false }
      let isBehindHop = state.hopStanding == .staleWhileRevalidate && state.standing() == .valid
      return isBehindHop && state.isHop
        && (request.isLimitedInBytes || request.isLimitedInPixels && state.hasThumbs)
    },
    KnownDifference(
      .inspectionSaysOtherwise, .right,
      "What a redirect was followed to can't be asked about where each redirect is an answer, but stands in."
    ) { state, request in
      state.hop?.isAnswer == false && state.standing() == .stale && request.rules == .rfc9111
        && request.delivery == .fresh && !request.isOnlyIfCached && !request.isMaxStale
    },
  ]
}
