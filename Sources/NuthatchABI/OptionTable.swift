// nuthatch.h 20: The table of options
// Types: nh_table.h
//
//     nh_option option = {.struct_size = sizeof option};
//     while (nh_option_next(option.name, &option) == NH_OK && option.name != NULL) printf("%s: %s\n", option.name, option.help);

import CNuthatch
import NuthatchCore

/// Returns the options one after the other, for programs and bindings that check and document them: their names, ranges and words, their
/// levels, and their offsets in nh_options. It never returns values.
///
/// A program that may run with an older library than its header asks for an option by name: the library has it if
/// nh_option_next("redirects", &option) == NH_OK. A library without the option returns NH_INVALID if it is set.
///
/// @param after   The name of the previous option; NULL for the first.
/// @param option  Gets the option; its name is NULL after the last one. Set option->struct_size to sizeof *option before the call.
/// @return NH_OK; NH_INVALID, also for an unknown name.
@_cdecl("nh_option_next")
public func nhOptionNext(
  _ after: UnsafePointer<CChar>?, _ option: UnsafeMutablePointer<nh_option>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let option else { throw .null("option") }
    let rows = UnsafeBufferPointer(start: nh_option_rows(), count: nh_option_row_count)
    var next = 0
    if let after {
      let name = try string(after, "after")
      guard let before = rows.firstIndex(where: { String(cString: $0.name) == name }) else {
        throw NuthatchError(.invalid, "there is no option \(name.quotedForMessage)")
      }
      next = before + 1
    }
    try writeSized(next < rows.count ? rows[next] : nh_option(), to: option, "option")
  }
}
