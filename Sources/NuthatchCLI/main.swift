// # NuthatchCLI: the `nuthatch` command
//
// A file a command, each of them a value that knows its options, its help and how to run. `CommandLineParser` reads
// arguments the way getopt_long does, `Terminal` writes. This room must hold no logic that a library user would miss.

import Glibc

// Writing into a closed pipe must end the program with 141, not kill it by a signal that some callers see as a crash.
signal(SIGPIPE, SIG_IGN)
exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
