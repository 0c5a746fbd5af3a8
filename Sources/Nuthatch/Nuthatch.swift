// # Nuthatch: the library for Swift programs
//
// The core as it is, and an `async` face for it (`Cache+Async`, `Site+Async`, `EventSequence`). Swift's concurrency lives
// in this room only: it would pull Dispatch into the C library. It must hold no logic of its own.
//
// No call of the face holds a thread while it waits. docs/SWIFT.md is its manual.

@_exported import NuthatchCore
