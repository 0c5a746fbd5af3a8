import Glibc
import Synchronization
import TestServer
import Testing

@testable import NuthatchCore

@Suite("Open tickets") struct OpenTicketsTests {
  @Test("a ticket that is cancelled the moment it is noted isn't open any more")
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

  @Test("the tickets of a closed cache are open until they have their final events")
  func openUntilTold() {
    let open = OpenTickets()
    let turns = Atomic(0)
    open.watch { turns.add(1, ordering: .relaxed) }
    let tickets = (0..<2).map { _ in Ticket(url: "http://host.example/") }
    for ticket in tickets { #expect(open.add(ticket)) }
    #expect(open.close()?.count == 2)
    #expect(open.close() == nil)
    #expect(!open.add(Ticket(url: "http://host.example/")))
    #expect(open.count == 2 && !open.waitUntilEmpty(within: 0))
    tickets[0].finish(.failed(.closed))
    #expect(open.count == 1 && !open.waitUntilEmpty(within: 0))
    // From none, and not back yet.
    #expect(turns.load(ordering: .relaxed) == 1)
    tickets[1].finish(.failed(.closed))
    #expect(open.count == 0 && open.waitUntilEmpty(within: 0))
    #expect(turns.load(ordering: .relaxed) == 2)
  }

  @Test(
    "a cache isn't idle while its tickets are being ended by a shutdown or close", arguments: [false, true])
  func idle(isClosed: Bool) throws {
    let bench = try Bench()
    bench.server.on(prefix: "/", { _ in Script.ok("x").after(.wait("never")) })
    let cache = bench.cache
    let idle = Collected<Bool>()
    for path in ["/a", "/b"] {
      try cache.submit(Request(bench.server.url(path))).whenFinal { _ in
        do { idle.add(try cache.waitUntilIdle(within: 0)) } catch { Issue.record(error) }
      }
    }
    if isClosed { cache.close() } else { cache.shutdown() }
    // The first one's end finds the other open.
    #expect(idle.values == [false, true])
    #expect(try cache.waitUntilIdle(within: 0))
  }

  @Test("a shutdown returns after the observers of tickets that have just ended")
  func toldAtShutdown() {
    let open = OpenTickets()
    let ticket = Ticket(url: "http://host.example/")
    #expect(open.add(ticket))
    let isEnding = Atomic(false)
    let isListed = Atomic(false)
    ticket.whenNews {
      isEnding.store(true, ordering: .releasing)
      // Slow, so that a wait that returns too early is noticed.
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

  @Test("waitUntilEmpty returns after the watchers have been told")
  func watchersToldFirst() {
    let open = OpenTickets()
    let ticket = Ticket(url: "http://host.example/")
    let isEnding = Atomic(false)
    let isTold = Atomic(false)
    #expect(open.add(ticket))
    open.watch {
      isEnding.store(true, ordering: .releasing)
      // Slow, so that a wait that returns too early is noticed.
      usleep(200_000)
      isTold.store(true, ordering: .releasing)
    }
    onThreads(2) { number in
      if number == 0 { return ticket.cancel() }
      while !isEnding.load(ordering: .acquiring) { usleep(100) }
      #expect(open.waitUntilEmpty(within: 0))
      let wasTold = isTold.load(ordering: .acquiring)
      #expect(wasTold)
    }
  }
}
