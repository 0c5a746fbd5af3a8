// # NuthatchCLI: the `nuthatch` command
//
// Each command is a type with its options, its help and `run`. `ParsedArguments` reads arguments as getopt_long does, and
// `Terminal` writes output. Logic that a user of the library could need belongs to NuthatchCore, not here.
//
// The code is in the library, so that packages have it once. The program is `launcher.c`, which calls `runCommand`.

import Glibc
import NuthatchCore

/// Runs the command with the arguments of `main`, in a process of its own. Returns its exit status.
///
/// The symbol is private: only a launcher of the same version may call it.
@_cdecl("nhs_run_command")
public func runCommand(_ count: Int32, _ values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
{
  // If the caller closed a standard descriptor, the next file or connection would get its number, and messages would be
  // written into it. So open /dev/null there, in the wrong direction: every use fails, as with a closed descriptor.
  for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }

  // Keep freed memory in the process: a run decodes thousands of pictures, and each reuses it.
  FreedMemory.keep()

  // Writing into a closed pipe must end the program with status 141. SIGPIPE would look like a crash to some callers.
  signal(SIGPIPE, SIG_IGN)
  return Program.run(count, values).rawValue
}

/// Runs the process that decodes pictures for another one (`nuthatch-decoder`). Returns its exit status.
///
/// The symbol is private, as above.
@_cdecl("nhs_run_decoder")
public func runDecoder(_ count: Int32, _ values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
{
  DecoderService.run((1..<max(1, Int(count))).compactMap { values[$0].map { String(cString: $0) } })
}
