// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "nuthatch-benchmarks",
  dependencies: [.package(name: "nuthatch", path: "..")],
  targets: [
    .target(name: "CodecLimit", linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png16")]),
    .executableTarget(
      name: "ImagingBench",
      dependencies: ["CodecLimit", .product(name: "NuthatchImaging", package: "nuthatch")]),
  ],
  swiftLanguageModes: [.v6]
)
