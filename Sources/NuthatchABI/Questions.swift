// nuthatch.h 9: Questions
// Types: nh_questions.h
//
//     nh_event event;
//     int is_final = 0;
//     nh_submit(cache, url, NH_OPTIONS(.asks = NH_ASK_CREDENTIALS), &ticket);
//     while (!is_final && nh_wait(ticket, -1, &event, sizeof event) == NH_OK) {
//         nh_reply reply = {.struct_size = sizeof reply, .user = "ann", .password = "walnut"};
//         if (event.question == NH_ASK_CREDENTIALS) nh_answer(event.ticket, &reply);
//         is_final = event.is_final;
//         nh_event_clear(&event);
//     }
//     nh_ticket_release(ticket);

import CNuthatch
import NuthatchCore

/// Answers the last question of a ticket. May be called from any thread, also in a callback.
///
/// @param ticket  The event's ticket; in a callback it is set even if nh_submit returned none.
/// @param reply   NULL to leave the question unanswered, without further waiting.
/// @return NH_OK; NH_INVALID, also if no question is open, because none was asked, it was answered, its time is over, or the request has
///         ended; NH_FORKED. Headers that can't be sent end the request with NH_BAD_HEADER.
@_cdecl("nh_answer")
public func nhAnswer(_ ticket: nh_ticket_ref?, _ reply: UnsafePointer<nh_reply>?) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(ticket, .ticket, as: TicketView.self)
    guard let question = view.question.withLock({ $0 }) else {
      throw NuthatchError(.invalid, "no question is open: \(view.ticket.shownURL)")
    }
    var told = Reply.pass
    if let reply { told = try answer(try readSized(reply, zero: nh_reply(), "reply"), to: question) }
    view.question.withLock { $0 = nil }
    try view.ticket.answer(question, told)
  }
}

private func answer(_ reply: nh_reply, to question: Question) throws(NuthatchError) -> Reply {
  switch question.kind {
  case .challenge:
    guard reply.header_count > 0 else { return .pass }
    return .headers(try headerList(reply.headers, reply.header_count, "reply.headers"))
  case .headers:
    return .headers(try headerList(reply.headers, reply.header_count, "reply.headers"))
  case .credentials:
    guard let user = try given(reply.user, "reply.user") else { return .pass }
    return .credentials(name: user, password: try given(reply.password, "reply.password") ?? "")
  case .verdict:
    switch reply.verdict {
    case NH_VERDICT_UNSAID: return .pass
    case NH_VERDICT_ACCEPT: return .accept
    case NH_VERDICT_REJECT:
      return .reject(try given(reply.reason, "reply.reason") ?? "the program refused the answer")
    case NH_VERDICT_RETRY: return .retry
    default: throw .unknownValue("reply.verdict", reply.verdict.rawValue, of: "nh_verdict")
    }
  }
}

extension Question.Kind {
  /// The bit of nh_question.
  var bit: UInt32 {
    switch self {
    case .headers: NH_ASK_HEADERS.rawValue
    case .credentials: NH_ASK_CREDENTIALS.rawValue
    case .verdict: NH_ASK_VERDICT.rawValue
    case .challenge: NH_ASK_CHALLENGE.rawValue
    }
  }
}
