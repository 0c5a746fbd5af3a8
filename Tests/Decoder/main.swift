// The decoder of tests in Swift, which aren't linked with the shared library.
import Glibc
import NuthatchCore

exit(DecoderService.run(Array(CommandLine.arguments.dropFirst())))
