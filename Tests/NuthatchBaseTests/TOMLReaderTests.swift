import Testing

@testable import NuthatchBase

@Suite("TOML") struct TOMLReaderTests {
  /// Returns the value in a short notation.
  private func written(_ value: TOMLValue) -> String {
    switch value.form {
    case .text(let text): "'\(text)'"
    case .integer(let number): "\(number)"
    case .decimal(let text): "~\(text)"
    case .flag(let isOn): isOn ? "yes" : "no"
    case .array(let values): "[" + values.map { written($0) }.joined(separator: " ") + "]"
    case .table(let table): "{" + written(table) + "}"
    }
  }

  private func written(_ table: TOMLTable) -> String {
    table.entries.map { "\($0.key)=\(written($0.value))" }.joined(separator: " ")
  }

  private func read(_ text: String) -> String {
    do throws(TOMLFault) { return written(try TOMLReader.read(Array(text.utf8))) } catch {
      return "\(error.place.line):\(error.place.column) \(error.message)"
    }
  }

  /// Returns the place of the mistake, as `line:column`; nil if there is none.
  private func fault(_ bytes: [UInt8]) -> String? {
    do throws(TOMLFault) {
      _ = try TOMLReader.read(bytes)
      return nil
    } catch {
      return "\(error.place.line):\(error.place.column)"
    }
  }

  private func fault(_ text: String) -> String? { fault(Array(text.utf8)) }

  @Test(
    "values have the meaning of TOML",
    arguments: [
      ("", ""), ("# only a comment", ""), ("\u{FEFF}a = 1", "a=1"), ("a = 1 # b = 2\r\nc=2\r\n", "a=1 c=2"),
      ("a = -17\nb = +1_000\nc = 0", "a=-17 b=1000 c=0"),
      ("a = 0xDEAD_beef\nb = 0o17\nc = 0b101", "a=3735928559 b=15 c=5"),
      ("a = 9223372036854775807\nb = -9223372036854775808", "a=9223372036854775807 b=-9223372036854775808"),
      ("a = 0.5\nb = -1_0.25e-3\nc = 0.1234567890123", "a=~0.5 b=~-0.01025 c=~0.1234567890123"),
      ("a = 1e6\nb = 2.0\nc = -1.5E+1\nd = 9007199254740993.0", "a=1000000 b=2 c=-15 d=~9007199254740993.0"),
      ("a = true\nb = false", "a=yes b=no"),
      (#"a = "x\t\"\\\u00e9\U0001F600""#, "a='x\t\"\\é😀'"),
      (#"a = 'C:\new "x"'"#, #"a='C:\new "x"'"#),
      ("a = \"\"\"\nx\ny\"\"\"\"", "a='x\ny\"'"), ("a = \"\"\"x \\\n   \n  y\"\"\"", "a='x y'"),
      ("a = '''\nx\\n''y'''", "a='x\\n''y'"), ("a = \"\"", "a=''"),
      ("a = [1, \"x\", [true],]\nb = [ # first\n 1,\n # second\n 2\n]", "a=[1 'x' [yes]] b=[1 2]"),
      ("a = { b = 1, 'c d'.e = 2 }\nf = {}", "a={b=1 c d={e=2}} f={}"),
      ("\"\" = 1\n1234 = 2\n\"ʎǝʞ\" = 3", "=1 1234=2 ʎǝʞ=3"),
      ("a.b.c = 1\na.b.d = 2\na . e = 3", "a={b={c=1 d=2} e=3}"),
      ("[a]\nx = 1\n[b . 'c.d']\ny = 2", "a={x=1} b={c.d={y=2}}"),
      ("[a.b]\nx = 1\n[a]\ny = 2", "a={b={x=1} y=2}"),
      ("[a]\nb.c = 1\n[a.b.d]\nx = 1", "a={b={c=1 d={x=1}}}"),
    ])
  func values(_ text: String, _ expected: String) { #expect(read(text) == expected) }

  @Test(
    "a mistake has its place",
    arguments: [
      ("a = 1\nb = ", "2:5"), ("a", "1:2"), ("= 1", "1:1"), ("a = 1 2", "1:7"), ("a = 1\n  a = 2", "2:3"),
      ("é = 1", "1:1"), ("\"é\" = x", "1:7"), ("a = 30s", "1:5"), ("a = \"x", "1:5"), ("a = \"x\ny\"", "1:5"),
      ("a = 'x", "1:5"), ("a = \"\"\"x", "1:8"), (#"a = "\x""#, "1:6"), (#"a = "\u12""#, "1:6"),
      (#"a = "\uD800""#, "1:6"), (#"a = "\u0000""#, "1:6"), ("a = [1\nb = 2", "2:1"), ("a = [1, 2", "1:10"),
      ("a = [", "1:5"), ("a = { b = 1,\n c = 2 }", "1:13"), ("a = { b = 1, }", "1:14"),
      ("a = { b = 1", "1:12"),
      ("a = 1979-05-27", "1:5"), ("a = 07:32:00", "1:5"), ("a = 1979-05-27T07:32:00Z", "1:5"),
      ("a = 01", "1:5"), ("a = 1_", "1:5"), ("a = 1__0", "1:5"), ("a = _1", "1:5"), ("a = 1.", "1:5"),
      ("a = .5", "1:5"), ("a = 1e", "1:5"), ("a = inf", "1:5"), ("a = nan", "1:5"), ("a = 0x", "1:5"),
      ("a = 0x-1", "1:5"), ("a = 9223372036854775808", "1:5"), ("a = True", "1:5"),
      ("[a]\n[a]", "2:2"), ("[a]\n[b]\n[ a ]", "3:3"), ("a = 1\n[a]", "2:2"), ("a = 1\n[a.b]", "2:2"),
      ("[a.b]\nx=1\n[a]\nb.y=2", "4:1"), ("[a]\nb.c = 1\n[a.b]", "3:4"), ("a = {}\na.b = 1", "2:1"),
      ("a = {}\n[a.b]", "2:2"), ("a = { b = 1, b = 2 }", "1:14"), ("[[a]]", "1:1"), ("[a", "1:3"),
      ("[]", "1:2"),
      ("[a] b = 1", "1:5"), ("a.b = 1\na = 2", "2:1"), ("\"\"\"a\"\"\" = 1", "1:1"),
    ])
  func mistakes(_ text: String, _ place: String) { #expect(fault(text) == place, "\(read(text))") }

  @Test(
    "bytes that are no text are refused with their place",
    arguments: [
      ("a = 1\nb", [0], "2:2"), ("# é", [0xFF], "1:4"), ("#", [0xC3], "1:2"),
      ("#", [0xED, 0xA0, 0x80], "1:2"),
      ("#", [0xC0, 0x80], "1:2"), ("#", [0xF5, 0x80, 0x80, 0x80], "1:2"), ("# ", [0x1B], "1:3"),
      ("a = 'x", [0x7F], "1:7"),
      ("a = 1", [13, 0x20], "1:6"), ("a = 1", [13], "1:6"),
    ] as [(String, [UInt8], String)])
  func bytes(_ text: String, _ more: [UInt8], _ place: String) {
    #expect(fault(Array(text.utf8) + more) == place)
  }

  @Test("depth is limited, however it is written")
  func depth() {
    for (deep, tooDeep) in [
      (String(repeating: "[", count: 15), String(repeating: "[", count: 100_000))
    ] {
      #expect(fault("a = \(deep)\(String(repeating: "]", count: 15))") == nil)
      #expect(read("a = \(tooDeep)").contains("nested more than 16 deep"))
    }
    let tables = String(repeating: "{ a = ", count: 20_000)
    #expect(read("a = \(tables)").contains("nested more than 16 deep"))
    let key = Array(repeating: "a", count: 16).joined(separator: ".")
    #expect(fault("\(key) = 1") == nil && fault("[\(key)]") == nil)
    #expect(read("\(key).a = 1").contains("nested more"))
    #expect(read("[\(key).a]").contains("nested more"))
    #expect(read("[\(key)]\nb = 1").contains("nested more"))
  }

  @Test("a text of 256 KiB is read, a longer one is refused")
  func size() {
    let lines = (0..<20_000).map { "k\($0) = 1\n" }.joined()
    #expect(lines.utf8.count < TOMLScanner.longest && fault(lines) == nil)
    #expect(fault("#" + String(repeating: "x", count: TOMLScanner.longest - 1)) == nil)
    #expect(read("#" + String(repeating: "x", count: TOMLScanner.longest)).contains("larger than 256 KiB"))
    // All in one line: the column is only counted for a message.
    let items = "a = [" + String(repeating: "1,", count: 100_000) + "]"
    #expect(fault(items) == nil)
  }

  @Test("no message shows a value")
  func secrets() {
    for text in [
      "a = hunter2", "a = \"hunter2", "a = \"hunter2\" x", "a = { b = hunter2 }", "a = [\"hunter2\" 1]",
    ] {
      #expect(fault(text) != nil && !read(text).contains("hunter2"), "\(text)")
    }
  }

  @Test("any cut and any changed byte of a text ends in a table or a mistake")
  func damaged() {
    let text = Array(
      "a.b = [1, { c = \"x\\u00e9\" }]\n[host.\"x\"]\nd = '''\n1\n'''\ne = 0x1F # é\n".utf8)
    for place in text.indices {
      _ = fault(Array(text[..<place]))
      for byte in UInt8.min...UInt8.max {
        var changed = text
        changed[place] = byte
        _ = fault(changed)
      }
    }
    #expect(fault(text) == nil)
  }
}
