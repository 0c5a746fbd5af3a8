import Glibc
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

  @Test("that have just ended have told everybody when a shutdown returns")
  func toldAtShutdown() {
    let open = OpenTickets()
    let ticket = Ticket(url: "http://host.example/")
    #expect(open.add(ticket))
    let isEnding = Atomic(false)
    let isListed = Atomic(false)
    ticket.whenNews {
      isEnding.store(true, ordering: .releasing)
      usleep(200_000)
      isListed.store(true, ordering: .releasing)
    }
    onThreads(2) { number in
      if number == 0 { return ticket.cancel() }
      while !isEnding.load(ordering: .acquiring) { usleep(100) }
      _ = open.close()
      open.waitUntilTold()
      let isTold = isListed.load(ordering: .acquiring)
      #expect(isTold)
    }
  }
}
