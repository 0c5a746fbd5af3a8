import Synchronization
import Testing

@testable import NuthatchCore

@Suite("Open tickets") struct OpenTicketsTests {
  @Test("that are cancelled the moment they are noted are not open any more")
  func cancelledAtOnce() {
    let open = OpenTickets()
    let isOver = Atomic(false)
    let rounds = 20_000
    onThreads(2) { number in
      if number == 0 {
        while !isOver.load(ordering: .relaxed) { for ticket in open.all { ticket.cancel() } }
      } else {
        for _ in 0..<rounds {
          let ticket = Ticket(url: "http://host.example/")
          #expect(open.add(ticket))
          ticket.cancel()
        }
        isOver.store(true, ordering: .relaxed)
      }
    }
    #expect(open.count == 0)
    #expect(open.waitUntilEmpty(within: 0))
  }
}
