import { fileProblem } from '../base/errors.ts'
import { errors, isFault, type ErrorCode, type Fault } from '../contract/errors.ts'
import { damageOf } from '../wiring/installation/database-damage.ts'
import { formatTime } from './time-format.ts'

/** English versions of texts that the contract fixes in German. */
const ENGLISH: Partial<Record<ErrorCode, string>> = {
  not_found: 'The server does not have this, or no longer has it.',
  internal: 'An error inside the server.',
}

/** Describes an error in one sentence for the user. */
export function errorMessage(error: unknown): string {
  if (isFault(error, 'maintenance')) return maintenanceMessage(error)
  if (isFault(error, 'bad_request')) return fieldProblems(error)
  if (isFault(error)) return translate(error)
  return damageOf(error)?.text ?? fileProblem(error) ?? (error instanceof Error ? error.message : String(error))
}

/** Translates the server's text, which may extend that of the contract; names the time when another attempt makes sense. */
function translate({ code, message, extra: { retryAfter } }: Fault): string {
  const [text, fixed] = [ENGLISH[code], errors[code][1]]
  if (text !== undefined && message.startsWith(fixed)) return text + message.slice(fixed.length)
  return retryAfter === undefined ? message : message.replace(/ later\.$/, ` ${whenText(retryAfter)}.`)
}

function whenText(seconds: number): string {
  if (seconds < 120) return `in ${seconds} s`
  const [now, time] = [Date.now(), Date.now() + 1_000 * seconds].map((ms) => formatTime(ms).split(' '))
  return `at ${now![0] === time![0] ? time![1] : time!.join(' ')}`
}

/** The fields that are invalid, where the message does not name them. */
function fieldProblems({ message, extra: { text, fields } }: Fault): string {
  const details = fields?.['details']
  if (text !== undefined || !Array.isArray(details)) return message
  const problems = (details as { path: string; message: string }[]).map(
    ({ path, message: problem }) => `${path} ${problem}`,
  )
  const sentence = problems.join('; ')
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

/** What `--json` adds to an error, for scripts that retry. */
export function errorDetails(error: unknown): object {
  if (isFault(error, 'maintenance')) return announcementOf(error)
  const problems = (error as { problems?: unknown } | null)?.problems
  return problems === undefined ? {} : { problems }
}

interface Announcement {
  message: string
  /** ISO 8601; null if unknown. */
  until: string | null
  read_only: boolean
}

function announcementOf({ extra: { fields = {} } }: Fault): Announcement {
  const { message, until, read_only } = fields
  const isMoment = typeof until === 'string' && !Number.isNaN(Date.parse(until))
  return {
    message: typeof message === 'string' ? message : '',
    until: isMoment ? until : null,
    read_only: read_only === true,
  }
}

function maintenanceMessage(fault: Fault): string {
  const { message, until, read_only } = announcementOf(fault)
  const state = read_only ? 'The server is read-only' : 'The server is under maintenance'
  const end = until === null ? '' : ` until ${formatTime(Date.parse(until))}`
  if (message) return `${state}${end}: ${message}`
  return `${state}${end}: try again ${until === null ? 'later' : 'then'}.`
}
