import type { SentFault } from '../wire/protocol.ts'
import { formatNumber } from './formats.ts'
import { catalogue } from './language.ts'

/** What the server, or the way to it, refused: thrown by every call of the bridge. */
export class Trouble extends Error {
  override name = 'Trouble'
  /** A code of the contract, or `unreachable`. */
  readonly code: string
  readonly fields: Record<string, unknown>
  /** Seconds until trying again makes sense. */
  readonly retryAfter: number | undefined

  constructor({ code, message, fields = {}, retryAfter }: SentFault) {
    super(message)
    this.code = code
    this.fields = fields
    this.retryAfter = retryAfter
  }
}

const inSeconds = (seconds: number | undefined): number => Math.max(1, Math.ceil(seconds ?? 1))

const text = catalogue(
  {
    bad_request: 'Something entered is not valid.',
    bad_path: 'This name or path is not allowed.',
    invalid_credentials: 'The user name or the password is wrong.',
    invalid_code: 'The code is wrong or expired.',
    forbidden: 'You are not allowed to do this.',
    cross_domain: 'Own files and room files cannot be moved or copied into each other.',
    not_found: 'It is not there any more.',
    exists: 'Something with this name exists already.',
    not_empty: 'The folder is not empty.',
    conflict: 'It was changed elsewhere meanwhile.',
    gone: 'It was deleted elsewhere meanwhile.',
    too_many_files: 'You have as many files and folders as you may: delete some, or ask the administrator for more.',
    quota_exceeded: 'Your storage is full: delete something, or ask the administrator for more.',
    too_large: 'This is too large.',
    unsupported_media_type: 'This kind of content cannot be shown or stored here.',
    disk_full: 'The disk of the server is full; nothing was stored.',
    busy: 'The server is busy; try again in a moment.',
    maintenance: 'The service is under maintenance.',
    rate_limited: (seconds: number) => `Too much at once: try again in ${formatNumber(seconds)} s.`,
    account_locked: (minutes: number) => `Too many failed attempts: try again in ${formatNumber(minutes)} min.`,
    internal: (request: string) => `Something went wrong on the server${request}.`,
    unreachable: 'The server cannot be reached at the moment.',
    unknown: 'That did not work.',
  },
  {
    bad_request: 'Eine Eingabe ist nicht gültig.',
    bad_path: 'Dieser Name oder Pfad ist nicht erlaubt.',
    invalid_credentials: 'Benutzername oder Passwort ist falsch.',
    invalid_code: 'Der Code ist falsch oder abgelaufen.',
    forbidden: 'Das ist Ihnen nicht erlaubt.',
    cross_domain: 'Eigene Dateien und Raumdateien lassen sich nicht ineinander verschieben oder kopieren.',
    not_found: 'Das gibt es nicht mehr.',
    exists: 'Etwas mit diesem Namen gibt es schon.',
    not_empty: 'Der Ordner ist nicht leer.',
    conflict: 'Es wurde inzwischen anderswo geändert.',
    gone: 'Es wurde inzwischen anderswo gelöscht.',
    too_many_files:
      'Sie haben so viele Dateien und Ordner, wie Sie haben dürfen: Löschen Sie einige, oder bitten Sie die Verwaltung um mehr.',
    quota_exceeded: 'Ihr Speicher ist voll: Löschen Sie etwas, oder bitten Sie die Verwaltung um mehr.',
    too_large: 'Das ist zu groß.',
    unsupported_media_type: 'Diese Art von Inhalt lässt sich hier nicht zeigen oder speichern.',
    disk_full: 'Die Festplatte des Servers ist voll; nichts wurde gespeichert.',
    busy: 'Der Server ist beschäftigt; versuchen Sie es gleich noch einmal.',
    maintenance: 'Der Dienst wird gerade gewartet.',
    rate_limited: (seconds) => `Zu viel auf einmal: Versuchen Sie es in ${formatNumber(seconds)} s noch einmal.`,
    account_locked: (minutes) => `Zu viele Fehlversuche: Versuchen Sie es in ${formatNumber(minutes)} min noch einmal.`,
    internal: (request) => `Auf dem Server ging etwas schief${request}.`,
    unreachable: 'Der Server ist gerade nicht erreichbar.',
    unknown: 'Das hat nicht geklappt.',
  },
)

/** What went wrong, in the language of the desktop, for people. */
export function explain(error: unknown): string {
  if (!(error instanceof Trouble)) return text('unknown')
  switch (error.code) {
    case 'rate_limited':
      return text('rate_limited', inSeconds(error.retryAfter))
    case 'account_locked':
      return text('account_locked', Math.ceil(inSeconds(error.retryAfter) / 60))
    case 'internal':
      return text('internal', typeof error.fields['request_id'] === 'string' ? ` (${error.fields['request_id']})` : '')
    case 'unauthorized':
    case '2fa_required':
    case 'csrf':
      return text('forbidden')
    case 'bad_path':
    case 'invalid_credentials':
    case 'invalid_code':
    case 'forbidden':
    case 'cross_domain':
    case 'not_found':
    case 'exists':
    case 'not_empty':
    case 'conflict':
    case 'gone':
    case 'quota_exceeded':
    case 'too_many_files':
    case 'too_large':
    case 'unsupported_media_type':
    case 'disk_full':
    case 'busy':
    case 'maintenance':
    case 'unreachable':
      return text(error.code)
    case 'precondition_failed':
      return text('conflict')
    case 'bad_request':
      return error.message === '' ? text('bad_request') : `${text('bad_request')} (${error.message})`
    default:
      return error.message === '' ? text('unknown') : error.message
  }
}

/** What the server found wrong with single fields, by their names. */
export function flawsOf(error: unknown): Record<string, string> {
  const details = error instanceof Trouble ? error.fields['details'] : undefined
  if (!Array.isArray(details)) return {}
  return Object.fromEntries(
    details.map((detail: { path?: unknown; message?: unknown }) => [
      String(detail.path).replace(/^\//, ''),
      String(detail.message),
    ]),
  )
}
