/** An error as the system gives it. */
export const systemError = (code: string, call: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path })

/** The machine is off: whoever still runs on it gets no further. */
export class PowerCut extends Error {
  override name = 'PowerCut'
}
