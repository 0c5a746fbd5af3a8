// # NuthatchCore: requests, tickets, answers
//
// `Cache` takes a `Request` and returns a `Ticket`. The ticket delivers events. The last one is final; after a success it has a
// `Response` or images. One transport serves all caches of the process. The C ABI, the Swift library and the command are thin
// layers over this module. It must not know C types, `async`, or command lines.
//
// Start at `Cache.submit`. `RequestTask` handles one request, `Fetch` asks the server if that is needed. docs/ARCHITECTURE.md
// shows all steps. Folders: `Lookup` (stored answers), `Fetching` (answers from the network), `Queue` (order and limits of
// requests), `Records` (formats in the store), `Sharing` (objects that all handles of a directory share), `Answers` (objects
// that a program gets), `Outbox` (requests that are stored and sent later), `Downloads` (answers that are saved to files),
// `Inspection` (reports about stored answers), `Workers` (threads), `Identity` (netrc files and cookies), `Options`.

import NuthatchBase

// Names of NuthatchBase for the modules that import NuthatchCore.
package typealias JSONText = NuthatchBase.JSONText
package typealias Locked = NuthatchBase.Locked
