// # NuthatchBase: what the other rooms have in common
//
// Small helpers that know of no record, no URL and no request. Each of them is used by two rooms at least: what only one
// room uses lives in that room.
