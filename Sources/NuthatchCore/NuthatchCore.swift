// # NuthatchCore: requests, tickets, answers
//
// `Cache` takes a `Request` and returns a `Ticket`. The ticket delivers events, the last of them final; a success has a `Response`. One
// transport serves all caches of the process. The C ABI, the Swift library and the command are thin layers over this module, which must
// not know C types, `async`, or command lines.
//
// Start at `Cache.submit`, and follow a request through `RequestTask`, and through `Fetch` if the server must be asked;
// docs/ARCHITECTURE.md shows the way on one screen. Folders: `Lookup` (stored answers), `Fetching` (answers from the network), `Queue`
// (order and limits of requests), `Records` (formats in the store), `Sharing` (objects that all handles of a directory share), `Answers`
// (objects that a program gets).

import NuthatchBase

// Names of NuthatchBase that the modules above use, too.
package typealias JSONText = NuthatchBase.JSONText
package typealias Locked = NuthatchBase.Locked
