// # NuthatchCLI: the `nuthatch` command
//
// A file a command, each of them a value that knows its options, its help and how to run. `ParsedArguments` reads
// arguments the way getopt_long does, `Terminal` writes. This room must hold no logic that a library user would miss.

import Glibc
import NuthatchCore

// A standard descriptor that the caller closed would be the number of the next file or connection: what is meant for
// people would be written into it. Opened the wrong way round, it answers every use with an error, as a closed one.
for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
  _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
}

// Pictures come and go by the thousand.
FreedMemory.keep()

// Writing into a closed pipe must end the program with 141, not kill it by a signal that some callers see as a crash.
signal(SIGPIPE, SIG_IGN)
exit(Program.run(CommandLine.argc, CommandLine.unsafeArgv).rawValue)
