// # Nuthatch: the library for Swift programs
//
// The core, with an `async` interface (`Cache+Async`, `Site+Async`, `EventSequence`). Only this module uses Swift's
// concurrency, because that needs Dispatch, which the C library must not link. Logic belongs in the core.
//
// No call of this interface holds a thread while it waits. docs/SWIFT.md is its manual.

@_exported import NuthatchCore
