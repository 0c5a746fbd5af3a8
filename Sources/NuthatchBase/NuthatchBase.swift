// # NuthatchBase: helpers for the other rooms
//
// Small helpers that know of no record, no URL and no request. At least two rooms use each of them; a helper of one room is in
// that room.
