// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "thumbnails",
  dependencies: [
    // Elsewhere: .package(url: "…/nuthatch.git", from: "0.2.0")
    .package(name: "nuthatch", path: "../..")
  ],
  targets: [
    .executableTarget(name: "thumbnails", dependencies: [.product(name: "Nuthatch", package: "nuthatch")])
  ],
  swiftLanguageModes: [.v6]
)
