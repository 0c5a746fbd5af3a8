// # NuthatchCore: requests, tickets, answers
//
// `Cache` takes a `Request` and gives a `Ticket`; the ticket gives events, the last of them final; a success carries a
// `Response`. Behind them, one transport serves every cache of the process. The C ABI, the Swift library and the
// command are thin layers over this room, which must not know of C types, of `async`, or of command lines.
//
// Start at `Cache.submit`, and follow a request through `RequestTask`, and through `Fetch` where the server has to be asked;
// docs/ARCHITECTURE.md has the way on one screen. Folders: `Lookup` (what is stored), `Fetching` (what is not), `Queue` (whose turn it is),
// `Records` (what is kept), `Sharing` (what all handles of a directory have in common), `Answers` (what a program gets).

import NuthatchBase

// What of the base room is for the rooms above, too.
package typealias JSONText = NuthatchBase.JSONText
package typealias Locked = NuthatchBase.Locked
