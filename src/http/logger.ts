import type { FastifyServerOptions } from 'fastify'

// Credentials never reach the log, whoever logs a request or its headers.
const redact = ['authorization', 'cookie', 'set-cookie', 'x-csrf-token'].flatMap((name) => [
  `req.headers["${name}"]`,
  `headers["${name}"]`,
])

/** Whether the log is lines for people, which `auto` means where stderr is a terminal. */
export const isForPeople = (format: string): boolean =>
  format === 'pretty' || (format === 'auto' && process.stderr.isTTY)

/** Where the log goes: JSON lines on stderr, or lines for people when that is a terminal and the format is `auto`. */
export async function makeLogger(level: string, format: string): Promise<FastifyServerOptions['logger']> {
  return { level, redact, base: null, stream: isForPeople(format) ? await prettyStream() : process.stderr }
}

async function prettyStream(): Promise<NodeJS.WritableStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ destination: 2, ignore: 'reqId', translateTime: 'SYS:HH:MM:ss', singleLine: true })
}
