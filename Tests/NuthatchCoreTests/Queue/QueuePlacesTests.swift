import Testing

@testable import NuthatchCore

@Suite("Places of the queue") struct QueuePlacesTests {
  @Test("a fixed number of places counts loopback, too")
  func fixed() {
    let bench = QueueBench(.fixed(3))
    for index in 0..<10 {
      bench.submit("\(index)", to: index < 5 ? "127.0.0.1:\(8000 + index)" : "h\(index)")
    }
    #expect(bench.takeBegun() == ["0", "1", "2"])
    bench.finishFirst()
    #expect(bench.takeBegun() == ["3"])
    bench.finishAll()
    #expect(bench.begun.count == 6 && bench.queue.activity == 0)
  }

  @Test("one place is kept free of work below zero: a thumbnail starts beside two long uploads")
  func lastPlace() {
    for uploads in [["up.example", "up.example"], ["up.example", "up2.example"]] {
      let bench = QueueBench(.fixed(2))
      for host in uploads { bench.submit("upload", to: host, priority: -5) }
      #expect(bench.running.count == 1)
      bench.submit("thumbnail", to: "pictures.example")
      #expect(bench.begun == ["upload", "thumbnail"])
      bench.finish(bench.running[1])
      #expect(bench.begun == ["upload", "thumbnail"])
      bench.finishAll()
      #expect(bench.begun == ["upload", "thumbnail", "upload"])
    }
  }

  @Test("the only place is left to work below zero if no other request wants it")
  func onlyPlace() {
    let bench = QueueBench(.fixed(1))
    bench.submit("upload", priority: -5)
    bench.submit("upload 2", priority: -5)
    bench.submit("thumbnail", to: "b.example")
    #expect(bench.begun == ["upload"])
    bench.finishFirst()
    #expect(bench.begun == ["upload", "thumbnail"])
    bench.finishFirst()
    #expect(bench.begun == ["upload", "thumbnail", "upload 2"])
  }

  @Test("a thumbnail starts beside five uploads after the automatic size has shrunk to two")
  func shrunk() {
    let bench = QueueBench(link: .wireless)
    for index in 0..<5 { bench.submit("upload \(index)", to: "up\(index).example", priority: -5) }
    #expect(bench.running.count == 5)
    bench.queue.linkChanged(to: .metered, now: bench.now)
    #expect(bench.queue.size == 2)
    bench.submit("thumbnail", to: "b.example")
    #expect(bench.begun.last == "thumbnail")
    bench.submit("second", to: "b.example")
    #expect(bench.begun.last == "thumbnail")
  }

  @Test("a priority that changes under way counts for the place that is kept free")
  func raisedWhileRunning() {
    let bench = QueueBench(.fixed(2))
    let upload = bench.submit("upload", priority: -5)
    bench.submit("upload 2", to: "b.example", priority: -5)
    #expect(bench.running.count == 1)
    bench.queue.setPriority(0, of: upload, now: bench.now)
    #expect(bench.begun == ["upload", "upload 2"])
    bench.submit("thumbnail", to: "c.example")
    #expect(bench.running.count == 2)
    bench.queue.setPriority(-5, of: upload, now: bench.now)
    #expect(bench.begun.last == "thumbnail")
  }

  @Test("the automatic number of places is the link's, loopback not counted")
  func automatic() {
    for (link, start) in [
      (LinkKind.metered, 2), (.wireless, 6), (.wired, 32), (.unknown, 32), (.none, 32),
    ] {
      let bench = QueueBench(link: link)
      for index in 0..<100 { bench.submit("\(index)", to: "h\(index).example") }
      #expect(bench.begun.count == start && bench.queue.size == start)
      for host in ["localhost:1", "127.0.0.1:2", "[::1]:3", "x.localhost:4", "127.1.2.3:5"] {
        bench.submit(host, to: host)
        #expect(bench.begun.last == host)
      }
      bench.submit("no loopback", to: "127.0.0.1.example")
      #expect(bench.begun.last != "no loopback")
    }
  }

  @Test("places never outnumber the descriptors")
  func descriptors() {
    var settings = QueueSettings()
    settings.mostAtOnce = 8
    for concurrency in [QueueSettings.Concurrency.automatic, .fixed(1000)] {
      settings.concurrency = concurrency
      let bench = QueueBench(settings)
      for index in 0..<100 {
        bench.submit("\(index)", to: "h\(index).example")
        bench.submit("l\(index)", to: "127.0.0.1:\(1000 + index)")
      }
      #expect(bench.running.count == 8)
    }
  }

  @Test("the number of places can change at any time, and running requests go on")
  func change() {
    let bench = QueueBench(.fixed(4))
    for index in 0..<20 { bench.submit("\(index)", to: "127.0.0.1:\(1000 + index)") }
    #expect(bench.running.count == 4)
    bench.queue.change(.fixed(2), now: bench.now)
    bench.finishFirst()
    bench.finishFirst()
    #expect(bench.running.count == 2)
    bench.finishFirst()
    #expect(bench.running.count == 2 && bench.begun.count == 5)
    bench.queue.change(QueueSettings(), now: bench.now)
    #expect(bench.running.count == 17)
    bench.queue.change(.fixed(2), now: bench.now)
    bench.submit("last", to: "b.example")
    for _ in 0..<16 { bench.finishFirst() }
    #expect(bench.begun.last == "last")
    bench.finishAll()
    #expect(bench.queue.activity == 0)
  }

  @Test("a silent host's places are lent to other hosts after a second")
  func lent() {
    let bench = QueueBench(link: .metered)
    for index in 0..<6 { bench.submit("dead \(index)", to: "dead.example") }
    #expect(bench.takeBegun() == ["dead 0", "dead 1"])
    bench.submit("good", to: "good.example")
    #expect(bench.takeBegun() == [])
    bench.pass(999 * millisecond)
    #expect(bench.takeBegun() == [])
    bench.pass(1 * millisecond)
    #expect(bench.takeBegun() == ["good"])
    bench.queue.answered(bench.running[2], firstByte: nil, now: bench.now)
    bench.pass(10 * second)
    #expect(bench.takeBegun() == [])
    bench.submit("good 2", to: "good.example")
    bench.submit("good 3", to: "good.example")
    #expect(bench.takeBegun() == ["good 2"])
    // A head takes the places back, and lets the host have its own again.
    for entry in bench.running.prefix(2) { bench.queue.answered(entry, firstByte: nil, now: bench.now) }
    bench.submit("good 4", to: "good.example")
    #expect(bench.takeBegun() == [])
    bench.finishAll()
    #expect(bench.takeBegun().sorted() == ["dead 2", "dead 3", "dead 4", "dead 5", "good 3", "good 4"])
    #expect(bench.queue.activity == 0)
  }

  @Test("a slow host that lends its places may use those of its own again")
  func keptWhileLending() {
    let bench = QueueBench(link: .metered)
    for index in 0..<4 { bench.submit("slow \(index)", to: "slow.example") }
    bench.pass(second)
    bench.submit("good", to: "good.example")
    #expect(bench.takeBegun() == ["slow 0", "slow 1", "good"])
    bench.finishFirst()
    #expect(bench.takeBegun() == ["slow 2"])
  }

  @Test("a slow host gets what it may if places are plenty")
  func slowButPlenty() {
    let bench = QueueBench(link: .wired)
    bench.submit("slow")
    bench.pass(5 * second)
    for index in 0..<9 { bench.submit("\(index)") }
    #expect(bench.running.count == 6)
  }

  @Test("fixed and loopback places are lent, too, so that silent hosts delay no other")
  func lentOfFixed() {
    for bench in [QueueBench(.fixed(2, lendAfter: second)), QueueBench(.fixed(1, lendAfter: second))] {
      let size = bench.queue.size
      for index in 0..<10 { bench.submit("silent \(index)", to: "127.0.0.\(index / 5 + 2)") }
      bench.submit("good", to: "127.0.0.1")
      #expect(bench.begun.count == size)
      for _ in 0..<3 { bench.pass(second) }
      #expect(bench.takeBegun().contains("good"))
      // Each has no more at once than it had.
      #expect(bench.running.count == 2 * size + 1)
      bench.finishAll()
      #expect(bench.queue.activity == 0 && bench.queue.linkPlaces.counts.lent == 0)
    }
    let bench = QueueBench()
    for index in 0..<200 { bench.submit("\(index)", to: "127.0.0.1:\(1000 + index / 4)") }
    bench.submit("good", to: "127.0.0.1")
    #expect(!bench.takeBegun().contains("good"))
    bench.pass(10 * second)
    #expect(bench.takeBegun().contains("good"))
  }

  @Test("an upload that moves lends no place")
  func uploading() {
    let bench = QueueBench(.fixed(1, lendAfter: second))
    let upload = bench.submit("upload")
    bench.submit("other", to: "b.example")
    for _ in 0..<10 {
      bench.pass(900 * millisecond)
      bench.queue.moved(upload, 2000, now: bench.now)
    }
    #expect(bench.takeBegun() == ["upload"])
    bench.pass(2 * second)
    #expect(bench.takeBegun() == ["other"])
    // It goes on: its place is its own again.
    bench.queue.moved(upload, 2000, now: bench.now)
    bench.submit("third", to: "c.example")
    bench.finish(bench.running[1])
    #expect(bench.takeBegun() == [])
    bench.queue.answered(upload, firstByte: nil, now: bench.now)
    for _ in 0..<10 {
      bench.queue.moved(upload, 2000, now: bench.now)
      bench.pass(second)
    }
    #expect(bench.takeBegun() == [])
    bench.finishAll()
    #expect(bench.takeBegun() == ["third"] && bench.queue.activity == 0)
  }

  @Test("lent places stay lent when the size becomes automatic, or fixed")
  func movedWhileLent() {
    let bench = QueueBench(.fixed(2, lendAfter: second))
    bench.submit("a", to: "127.0.0.2", priority: -5)
    bench.submit("b", to: "127.0.0.3")
    bench.pass(second)
    #expect(bench.queue.linkPlaces.counts.lent == 2)
    bench.queue.change(QueueSettings(), now: bench.now)
    #expect(bench.queue.linkPlaces.counts.lent == 0 && bench.queue.loopbackPlaces.counts.lent == 2)
    #expect(bench.queue.linkPlaces.counts.taken == 0 && bench.queue.loopbackPlaces.counts.taken == 0)
    bench.queue.change(.fixed(2), now: bench.now)
    bench.finishAll()
    for pool in [bench.queue.linkPlaces, bench.queue.loopbackPlaces] {
      #expect(pool.counts.lent == 0 && pool.counts.foreground == 0 && pool.counts.background == 0)
    }
  }

  @Test("a place is lent while a name is looked up, and taken back only if there is room")
  func lookingUp() {
    for bench in [QueueBench(.fixed(2)), QueueBench(link: .metered)] {
      for index in 0..<3 { bench.submit("slow \(index)", to: "slow.example") }
      let waiting = bench.running
      #expect(bench.takeBegun() == ["slow 0", "slow 1"])
      for entry in waiting { bench.queue.waitsForName(entry, now: bench.now) }
      // Its own host is held: it would only wait for the same.
      #expect(bench.takeBegun() == [])
      for index in 0..<3 { bench.submit("good \(index)", to: "good.example") }
      #expect(bench.takeBegun() == ["good 0", "good 1"])
      #expect(bench.queue.activity == 6)
      // The name is known, but both places are taken: its turn comes before those of later entries.
      #expect(!bench.queue.nameIsKnown(waiting[0], now: bench.now))
      bench.finish(waiting[0], .abandoned, retryAt: bench.now)
      #expect(bench.takeBegun() == [])
      bench.finish(bench.running[1])
      #expect(bench.takeBegun() == ["slow 0"])
      #expect(bench.queue.nameIsKnown(waiting[0], now: bench.now))
      // One whose name is nowhere ends without ever having had a place again.
      bench.finish(waiting[1], .unreachable(timedOut: false))
      #expect(bench.takeBegun() == [])
      bench.finishAll()
      #expect(bench.takeBegun().sorted() == ["good 2", "slow 2"])
      #expect(bench.queue.activity == 0)
    }
  }

  @Test("a name that is found while there is room takes its place back at once")
  func found() {
    let bench = QueueBench(.fixed(1))
    let entry = bench.submit("one", to: "one.example")
    bench.queue.waitsForName(entry, now: bench.now)
    #expect(bench.queue.nameIsKnown(entry, now: bench.now))
    bench.submit("two", to: "two.example")
    #expect(bench.takeBegun() == ["one"])
    bench.finish(entry)
    #expect(bench.takeBegun() == ["two"])
  }

  @Test("places aren't lent to more lookups than there are threads")
  func manyNames() {
    let bench = QueueBench(.fixed(1))
    bench.onBegin = { bench.queue.waitsForName($0, now: bench.now) }
    for index in 0..<600 { bench.submit("\(index)", to: "h\(index).example") }
    #expect(bench.running.count == PlaceLending.lookingUpAtOnce + 1)
    #expect(bench.queue.lookingUp == PlaceLending.lookingUpAtOnce)
    bench.finishAll()
    #expect(bench.begun.count == 600 && bench.queue.activity == 0 && bench.queue.lookingUp == 0)
  }

  @Test("silent hosts lend their places, however many names are looked up")
  func namesAndSilence() {
    let bench = QueueBench(.fixed(2, lendAfter: second))
    bench.onBegin = { if $0.host.origin.host.hasPrefix("h") { bench.queue.waitsForName($0, now: bench.now) } }
    for index in 0..<300 { bench.submit("\(index)", to: "h\(index).example") }
    for index in 0..<4 { bench.submit("silent \(index)", to: "silent\(index).example") }
    bench.submit("good", to: "good.example")
    for _ in 0..<2 { bench.pass(second) }
    #expect(bench.takeBegun().last == "good")
    bench.finishAll()
    #expect(bench.queue.activity == 0 && bench.queue.lookingUp == 0)
  }
}
