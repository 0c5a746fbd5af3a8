// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "nuthatch-benchmarks",
  dependencies: [.package(name: "nuthatch", path: "..")],
  targets: [
    .target(name: "CodecLimit", linkerSettings: ["dav1d", "jpeg", "png16", "webp"].map { .linkedLibrary($0) }),
    .executableTarget(
      name: "ImagingBench",
      dependencies: ["CodecLimit", .product(name: "NuthatchImaging", package: "nuthatch")]),
  ],
  swiftLanguageModes: [.v6]
)
