/// Returns the wait before try `number`, counted from 1. The first wait is `first`. Each further wait is twice as long, but at
/// most `longest`.
func backOff(number: Int, first: Int64, longest: Int64) -> Int64 {
  let doublings = Int64(min(max(number, 1) - 1, 40))
  let (wait, isTooMuch) = first.multipliedReportingOverflow(by: 1 << doublings)
  return isTooMuch ? longest : min(wait, longest)
}
