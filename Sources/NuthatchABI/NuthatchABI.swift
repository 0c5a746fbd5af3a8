// # NuthatchABI: the C functions
//
// Each file has one subject. Its `@_cdecl` functions check their arguments, call the core, and convert the results to C. `Support` has
// the shared parts: the table of handles, the last error, the strings. Features belong in the core. No argument of a caller may cause a
// trap here.
//
// The doc comments are the manual: `make header` prints them into nuthatch.h, a section for every file that begins with `// nuthatch.h N:
// Title`.
