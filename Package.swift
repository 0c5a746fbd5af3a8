// swift-tools-version: 6.2
import PackageDescription

// Warnings stop the build where CI asks for it, never on the newer compiler of somebody who only uses the package.
let isStrict = Context.environment["CI"] != nil
// The project's own builds set this variable. They have unsafe flags, and a target with such a flag can't be a dependency of
// other packages. Builds for packages set it to "release".
let ownBuild = Context.environment["NUTHATCH_OWN_BUILD"]
let isOwnBuild = ownBuild != nil

let swiftSettings: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []

// `Scripts/uncalled` reads this index of declarations. Debug builds have their own, and so have the tests: SwiftPM finds the
// tests in it.
let index = ["-index-store-path", Context.packageDirectory + "/.build/index"]
let isIndexed = isOwnBuild && ownBuild != "release"
let cSettings: [CSetting] =
  (isStrict ? [.treatAllWarnings(as: .error)] : [])
  + (isIndexed ? [.unsafeFlags(index, .when(configuration: .release))] : [])

func own(_ flags: [String], _ configuration: BuildConfiguration) -> [SwiftSetting] {
  isOwnBuild ? [.unsafeFlags(flags, .when(configuration: configuration))] : []
}

// The .so carries the Swift runtime inside, so that it runs where no Swift is installed. It has the code of the command, too.
let runtimeInside: LinkerSetting = .unsafeFlags([
  "-static-stdlib",
  // The default linker leaves names of Swift in the table of dynamic symbols, as local ones.
  "-use-ld=lld",
  "-Xlinker", "--gc-sections",
  "-Xlinker", "--as-needed",
  // Functions with the same code become one. No code here compares addresses of functions or key paths.
  "-Xlinker", "--icf=all",
  // Texts that end alike become one.
  "-Xlinker", "-O2",
  // The makefile puts a link to libstdc++.a there, for the Swift runtime: with libstdc++.so, the loader looks up 1,700 more
  // names at each start. Without that link the linker finds libstdc++.so.
  "-L", Context.packageDirectory + "/.build/static",
  // A bit for each place that the loader moves, and not 24 bytes. Needs glibc 2.36.
  "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
])
let libraryShape: LinkerSetting = .unsafeFlags([
  "-Xlinker", "-soname=libnuthatch.so.1",
  "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/NuthatchABI/nuthatch.map",
  "-Xlinker", "-z", "-Xlinker", "nodelete",
  "-Xlinker", "-z", "-Xlinker", "relro",
  // The static libraries are compiled for programs. Their names can be used in a library only if no other can replace them.
  "-Xlinker", "-Bsymbolic",
])

// Left out are checks of exclusive access while the program runs: a tenth of the work of a request that waits in the queue.
// Debug builds have them, and the sanitizers use these. With sections for functions, the linker leaves out those without a
// caller.
let released =
  own(["-enforce-exclusivity=unchecked", "-Xfrontend", "-function-sections"], .release)
  + (isIndexed ? own(index, .release) : [])
let swift = swiftSettings + released
// `make test` links its tests with the objects of the library and of the command. No test is linked with those of packages.
let testable = ownBuild == "release" ? [] : own(["-enable-testing"], .release)

// Unoptimised loops over bytes and pixels would take most of the time of tests: these targets, and C, are optimised in debug
// builds, too. Not the others, because optimised Swift shares arrays in a way that the thread sanitizer takes for races.
let hasLoops = ["NuthatchImaging", "NuthatchImagingTests"]
let loopsInC = cSettings + (isOwnBuild ? [.unsafeFlags(["-O2"])] : [])

func room(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  let debug = hasLoops.contains(name) ? own(["-O"], .debug) : []
  return .target(
    name: name, dependencies: dependencies, exclude: exclude, swiftSettings: swift + testable + debug)
}

// Compiling takes longer than running them, so tests aren't optimised.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  let flag = hasLoops.contains(name) ? "-O" : "-Onone"
  return .testTarget(
    name: name, dependencies: dependencies,
    swiftSettings: swiftSettings + own([flag], .debug) + own([flag], .release))
}

let package = Package(
  name: "nuthatch",
  products: [
    .library(name: "Nuthatch", targets: ["Nuthatch"]),
    .library(name: "nuthatch-c", type: .dynamic, targets: ["NuthatchABI", "NuthatchCLI"]),
    .library(name: "NuthatchImaging", targets: ["NuthatchImaging"]),
  ],
  targets: [
    .target(
      name: "CSystem", cSettings: loopsInC,
      linkerSettings: ["crypto", "curl", "dav1d", "isal", "jpeg", "lcms2", "png16", "ssl", "webp"].map {
        .linkedLibrary($0)
      }),
    .target(name: "CNuthatch", cSettings: cSettings),
    // Linked statically, so that neither a machine nor a wheel needs them.
    .target(
      name: "CUnpacking", dependencies: ["CSystem"], cSettings: cSettings,
      linkerSettings: ["lzma", "zstd"].map { .linkedLibrary(":lib\($0).a") }),
    room("NuthatchBase", ["CSystem"]),
    room("NuthatchHTTP", ["CSystem", "NuthatchBase"]),
    room("NuthatchStore", ["CSystem", "NuthatchBase"]),
    room("NuthatchTransport", ["CSystem", "NuthatchBase", "NuthatchHTTP"]),
    room("NuthatchImaging", ["CSystem"]),
    room(
      "NuthatchCore",
      ["CSystem", "NuthatchBase", "NuthatchHTTP", "NuthatchImaging", "NuthatchStore", "NuthatchTransport"],
      exclude: ["Options/options.toml"]),
    room("Nuthatch", ["NuthatchCore"]),
    .target(
      name: "NuthatchABI", dependencies: ["CNuthatch", "CSystem", "NuthatchBase", "NuthatchCore"],
      exclude: ["nuthatch.map"],
      swiftSettings: swift, linkerSettings: [runtimeInside, libraryShape]),
    .target(
      name: "NuthatchCLI", dependencies: ["CSystem", "CUnpacking", "NuthatchBase", "NuthatchCore"],
      exclude: ["launcher.c"], swiftSettings: swift + own(["-Osize"], .release)),

    // Tests. The server and its command serve every suite, in whatever language.
    .target(
      name: "CTestSockets", path: "Tests/CTestSockets", cSettings: cSettings,
      linkerSettings: [.linkedLibrary("z")]),
    .target(
      name: "TestServer", dependencies: ["CTestSockets"], path: "Tests/TestServer",
      swiftSettings: swift + testable),
    .executableTarget(
      name: "nuthatch-testserver", dependencies: ["TestServer"], path: "Tests/TestServerCommand",
      swiftSettings: swift),
    tests("TestServerTests", ["TestServer"]),
    tests("NuthatchBaseTests", ["NuthatchBase"]),
    tests("NuthatchHTTPTests", ["NuthatchHTTP"]),
    .executableTarget(
      name: "nuthatch-storecrash", dependencies: ["CSystem", "NuthatchStore"], path: "Tests/StoreCrash",
      swiftSettings: swift),
    .executableTarget(
      name: "nuthatch-bench-store", dependencies: ["CSystem", "NuthatchStore"], path: "Benchmarks/Store",
      swiftSettings: swift),
    tests("NuthatchStoreTests", ["CSystem", "NuthatchBase", "NuthatchStore", "nuthatch-storecrash"]),
    .executableTarget(
      name: "nuthatch-bench-fetch", dependencies: ["CSystem", "NuthatchTransport"], path: "Benchmarks/fetch",
      exclude: ["inflate.c", "limit.c", "pictures.c", "run.sh"], swiftSettings: swift),
    .executableTarget(
      name: "nuthatch-bench-core", dependencies: ["CSystem", "NuthatchCore"], path: "Benchmarks/core",
      swiftSettings: swift),
    .target(name: "FakeNames", path: "Tests/FakeNames", cSettings: cSettings),
    tests(
      "NuthatchTransportTests", ["CSystem", "NuthatchBase", "NuthatchTransport", "TestServer", "FakeNames"]),
    .target(
      name: "ImagingFixtures", path: "Tests/ImagingFixtures", cSettings: loopsInC,
      linkerSettings: ["jpeg", "lcms2", "png16", "webp", "z"].map { .linkedLibrary($0) }),
    tests("NuthatchImagingTests", ["NuthatchImaging", "ImagingFixtures"]),
    .executableTarget(
      name: "nuthatch-outboxcrash", dependencies: ["NuthatchCore"], path: "Tests/OutboxCrash",
      swiftSettings: swift),
    .executableTarget(
      name: "nuthatch-testdecoder", dependencies: ["NuthatchCore"], path: "Tests/Decoder",
      swiftSettings: swift),
    .executableTarget(
      name: "nuthatch-decisions", dependencies: ["NuthatchCore"], path: "Tests/DecisionTable",
      swiftSettings: swift),
    .target(name: "SlowDisk", path: "Tests/SlowDisk", cSettings: cSettings),
    tests(
      "NuthatchCoreTests",
      [
        "CNuthatch", "CSystem", "NuthatchBase", "NuthatchCore", "TestServer", "ImagingFixtures", "SlowDisk",
        "nuthatch-decisions",
        "nuthatch-outboxcrash",
        "nuthatch-testdecoder",
      ]),
    tests("NuthatchTests", ["Nuthatch", "TestServer"]),
    .executableTarget(
      name: "nuthatch-visitor", dependencies: ["Nuthatch"], path: "Tests/Visitors",
      exclude: ["visitor.c", "visitor.py"], swiftSettings: swift),
  ],
  swiftLanguageModes: [.v6]
)

// Under a sanitizer only the rooms that Swift tests link are built, and the programs that these start.
if Context.environment["NUTHATCH_SANITIZED"] != nil {
  let started = ["nuthatch-storecrash", "nuthatch-outboxcrash", "nuthatch-decisions", "nuthatch-testdecoder"]
  let unlinked = ["NuthatchABI", "NuthatchCLI", "CUnpacking"]
  package.products.removeAll { $0.name == "nuthatch-c" }
  package.targets.removeAll {
    $0.type == .test || unlinked.contains($0.name) || $0.path != nil && !started.contains($0.name)
  }
}
