/// Returns a wait that doubles with each `time` (from 1): `first` at first, at most `longest`.
func backOff(time: Int, first: Int64, longest: Int64) -> Int64 {
  let doublings = Int64(min(max(time, 1) - 1, 40))
  let (wait, isTooMuch) = first.multipliedReportingOverflow(by: 1 << doublings)
  return isTooMuch ? longest : min(wait, longest)
}
