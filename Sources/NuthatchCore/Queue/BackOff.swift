/// A wait that doubles each time: `first` the first time, and never more than `longest`.
func backOff(time: Int, first: Int64, longest: Int64) -> Int64 {
  let doublings = Int64(min(max(time, 1) - 1, 40))
  let (wait, isTooMuch) = first.multipliedReportingOverflow(by: 1 << doublings)
  return isTooMuch ? longest : min(wait, longest)
}
