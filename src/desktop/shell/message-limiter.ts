/** A rate limiter: returns whether a message is within `max` per `windowMs`. */
export function makeMessageLimiter(max: number, windowMs: number, now: () => number = () => performance.now()) {
  let times: number[] = []
  return (): boolean => {
    const at = now()
    times = times.filter((time) => at - time < windowMs)
    if (times.length >= max) return false
    times.push(at)
    return true
  }
}
