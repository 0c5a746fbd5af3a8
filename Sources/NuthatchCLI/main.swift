// # NuthatchCLI: the `nuthatch` command
//
// Each command is a type with its options, its help and `run`. `ParsedArguments` reads arguments as getopt_long does, and
// `Terminal` writes output. Logic that a user of the library could need belongs to NuthatchCore, not here.

import Glibc
import NuthatchCore

// If the caller closed a standard descriptor, the next file or connection would get its number, and messages would be written
// into it. So open /dev/null there, in the wrong direction: every use fails, as with a closed descriptor.
for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
  _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
}

// Keep freed memory in the process: a run decodes thousands of pictures, and each reuses it.
FreedMemory.keep()

// Writing into a closed pipe must end the program with status 141. SIGPIPE would look like a crash to some callers.
signal(SIGPIPE, SIG_IGN)
exit(Program.run(CommandLine.argc, CommandLine.unsafeArgv).rawValue)
