// # NuthatchABI: the C functions
//
// One file a subject, each holding `@_cdecl` functions that check their arguments, call the core, and turn what comes
// back into C. `Support` has what they share: the table of handles, the last error, the strings. No feature lives
// here, and nothing here may trap, whatever a caller passes.
//
// The doc comments are the manual: `make header` prints them into nuthatch.h, a section for every file whose first
// line says `// nuthatch.h N: Title`.
