/// A way in which what is said of one stored thing doesn't agree.
enum LookupDifference: String, CaseIterable {
  case lookIsSeen = "A peek or an inspection asks the server"
  case peekGivesMore = "A peek gives what the ticket gives only after asking, or with asking behind it"
  case peekGivesLess = "A peek gives nothing, although the ticket's answer is ready"
  case peekSaysOtherwise = "A peek's answer isn't the ticket's"
  case inspectionSaysOtherwise = "An inspection foretells what doesn't come"
  case secondHandleSaysOtherwise = "A second handle, which showed it by URL alone before, says otherwise"
  case netrcSaysOtherwise = "A handle whose netrc has nobody for the server says otherwise"
  case userGetsOthers = "A handle whose netrc has a user for the server finds what is everybody's"
  case laterHandleSaysOtherwise = "A handle opened later says otherwise"
  case unpackedSaysOtherwise = "What a peek unpacks isn't what another finds in memory"
  case ticketChangesPeek = "A peek says otherwise after a hit than before"
  case twoSizesSayOtherwise = "Two sizes get otherwise than one"
}
