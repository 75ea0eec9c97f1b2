/** Says of each event whether it is one of at most `most` within `per` milliseconds. */
export function makeFlood(most: number, per: number, now: () => number = () => performance.now()) {
  let times: number[] = []
  return (): boolean => {
    const at = now()
    times = times.filter((time) => at - time < per)
    if (times.length >= most) return false
    times.push(at)
    return true
  }
}
