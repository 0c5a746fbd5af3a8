// # NuthatchCore: requests, tickets, answers
//
// `Cache` takes a `Request` and gives a `Ticket`; the ticket gives events, the last of them final; a success carries a
// `Response`. Behind them, one transport serves every cache of the process. The C ABI, the Swift library and the
// command are thin layers over this room, which must not know of C types, of `async`, or of command lines.
//
// Start at `Cache.submit`, follow a request through `Fetch`.

import NuthatchBase

// What of the base room is for the rooms above, too.
package typealias JSONText = NuthatchBase.JSONText
package typealias Locked = NuthatchBase.Locked
