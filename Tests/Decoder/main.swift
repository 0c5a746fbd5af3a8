// The decoder of tests in Swift, which aren't linked with the shared library.
import Glibc
import NuthatchCore

exit(DecoderService.run(CommandLine.arguments.count == 2 ? CommandLine.arguments[1] : nil))
