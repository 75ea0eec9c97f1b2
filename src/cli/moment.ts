/** A time for people: to the minute, in the zone of this machine. */
export function moment(ms: number): string {
  const time = new Date(ms)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`
}
