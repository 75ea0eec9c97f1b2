import type { FastifyServerOptions } from 'fastify'

// Credentials are never logged.
const redact = ['authorization', 'cookie', 'set-cookie', 'x-csrf-token'].flatMap((name) => [
  `req.headers["${name}"]`,
  `headers["${name}"]`,
])

/** Whether the log is formatted for people: `pretty`, or `auto` with stderr on a terminal. */
export const isForPeople = (format: string): boolean =>
  format === 'pretty' || (format === 'auto' && process.stderr.isTTY)

/** Logger options: JSON lines on stderr, or formatted lines for people. */
export async function makeLogger(level: string, format: string): Promise<FastifyServerOptions['logger']> {
  return { level, redact, base: null, stream: isForPeople(format) ? await prettyStream() : process.stderr }
}

async function prettyStream(): Promise<NodeJS.WritableStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({ destination: 2, ignore: 'reqId', translateTime: 'SYS:HH:MM:ss', singleLine: true })
}
