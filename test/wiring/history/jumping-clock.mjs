// Preloaded into servers: their clock differs from the machine's by what a file says, in milliseconds.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const RealDate = Date
let offset = 0
const read = () => {
  try {
    offset = Number(readFileSync(process.env.CLOCK_OFFSET_FILE, 'utf8'))
  } catch {
    // No jump yet.
  }
}
read()
setInterval(read, 20).unref()
const now = () => RealDate.now() + offset
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
