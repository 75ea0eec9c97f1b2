import type { ErrorCode } from '../../contract/errors.ts'

type Code = Exclude<ErrorCode, 'rate_limited' | 'account_locked' | 'internal'> | 'unreachable' | 'unknown'

type Messages = Record<Code, string> & {
  /** Seconds until a retry makes sense. */
  rate_limited: (seconds: number) => string
  /** Minutes until a retry makes sense. */
  account_locked: (minutes: number) => string
  /** The request id in parentheses, or an empty text. */
  internal: (request: string) => string
}

/** User messages for the error codes of the contract, and for the desktop's own `unreachable` and `unknown`. */
export const english = {
  bad_request: 'Something entered is not valid.',
  unknown_action: 'The server does not know this action. Reload the page.',
  bad_path: 'This name or path is not allowed.',
  too_many_operations: 'This is too much at once.',
  unauthorized: 'Sign in again.',
  invalid_credentials: 'The user name or the password is wrong.',
  invalid_code: 'The code is wrong or expired.',
  '2fa_required': 'The code of the second factor is missing.',
  password_required: 'Enter your current password to continue.',
  csrf: 'The page is out of date. Reload it.',
  forbidden: 'You are not allowed to do this.',
  cross_domain: 'Files cannot be moved or copied between your own files and room files.',
  not_found: 'It no longer exists.',
  method_not_allowed: 'The server does not allow this request.',
  exists: 'An item with this name already exists.',
  not_empty: 'The folder is not empty.',
  conflict: 'It was changed elsewhere.',
  epoch_mismatch: 'The server was restored from a backup. Reload the page.',
  gone: 'It was deleted elsewhere.',
  cursor_expired: 'The page is out of date. Reload it.',
  precondition_failed: 'It was changed elsewhere.',
  quota_exceeded: 'Your storage is full. Delete something, or ask the administrator for more.',
  too_many_files: 'You have reached the limit of files and folders. Delete some, or ask the administrator for more.',
  too_large: 'This is too large.',
  unsupported_media_type: 'This type of content is not supported.',
  range_not_satisfiable: 'The requested part lies outside the file.',
  misdirected_request: 'The service does not answer under this address.',
  checksum_mismatch: 'The content was damaged on the way. Nothing was stored.',
  idempotency_key_reuse: 'The request was already used for something else.',
  thumbnails_unavailable: 'The server makes no thumbnails.',
  maintenance: 'The service is under maintenance.',
  setup_required: 'The service has no administrator yet.',
  assistant_unavailable: 'The assistant is not available.',
  busy: 'The server is busy. Try again in a moment.',
  disk_full: 'The disk of the server is full. Nothing was stored.',
  unreachable: 'The server cannot be reached at the moment.',
  unknown: 'That did not work.',
  rate_limited: (seconds) => `Too many requests. Try again in ${seconds} s.`,
  account_locked: (minutes) => `Too many failed attempts. Try again in ${minutes} min.`,
  internal: (request) => `An error occurred on the server${request}.`,
} as const satisfies Messages

export const german: Messages = {
  bad_request: 'Eine Eingabe ist ungültig.',
  unknown_action: 'Der Server kennt diese Aktion nicht. Laden Sie die Seite neu.',
  bad_path: 'Dieser Name oder Pfad ist nicht zulässig.',
  too_many_operations: 'Das ist zu viel auf einmal.',
  unauthorized: 'Melden Sie sich erneut an.',
  invalid_credentials: 'Benutzername oder Passwort ist falsch.',
  invalid_code: 'Der Code ist falsch oder abgelaufen.',
  '2fa_required': 'Der Code des zweiten Faktors fehlt.',
  password_required: 'Geben Sie Ihr aktuelles Passwort ein, um fortzufahren.',
  csrf: 'Die Seite ist veraltet. Laden Sie sie neu.',
  forbidden: 'Sie haben keine Berechtigung dafür.',
  cross_domain: 'Dateien lassen sich nicht zwischen Ihren eigenen Dateien und Raumdateien verschieben oder kopieren.',
  not_found: 'Das Element ist nicht mehr vorhanden.',
  method_not_allowed: 'Der Server lässt diese Anfrage nicht zu.',
  exists: 'Ein Element mit diesem Namen ist bereits vorhanden.',
  not_empty: 'Der Ordner ist nicht leer.',
  conflict: 'Das Element wurde an anderer Stelle geändert.',
  epoch_mismatch: 'Der Server wurde aus einer Sicherung wiederhergestellt. Laden Sie die Seite neu.',
  gone: 'Das Element wurde an anderer Stelle gelöscht.',
  cursor_expired: 'Die Seite ist veraltet. Laden Sie sie neu.',
  precondition_failed: 'Das Element wurde an anderer Stelle geändert.',
  quota_exceeded: 'Ihr Speicher ist voll. Löschen Sie etwas oder bitten Sie die Administration um mehr Speicherplatz.',
  too_many_files:
    'Sie haben die Höchstzahl an Dateien und Ordnern erreicht. Löschen Sie einige oder bitten Sie die Administration um mehr.',
  too_large: 'Der Inhalt ist zu groß.',
  unsupported_media_type: 'Dieser Inhaltstyp wird nicht unterstützt.',
  range_not_satisfiable: 'Der angeforderte Teil liegt außerhalb der Datei.',
  misdirected_request: 'Der Dienst ist unter dieser Adresse nicht erreichbar.',
  checksum_mismatch: 'Der Inhalt wurde bei der Übertragung beschädigt. Es wurde nichts gespeichert.',
  idempotency_key_reuse: 'Die Anfrage wurde bereits für etwas anderes verwendet.',
  thumbnails_unavailable: 'Der Server erstellt keine Vorschaubilder.',
  maintenance: 'Der Dienst wird gerade gewartet.',
  setup_required: 'Der Dienst hat noch keinen Administrator.',
  assistant_unavailable: 'Der Assistent ist nicht verfügbar.',
  busy: 'Der Server ist ausgelastet. Versuchen Sie es gleich noch einmal.',
  disk_full: 'Die Festplatte des Servers ist voll. Es wurde nichts gespeichert.',
  unreachable: 'Der Server ist derzeit nicht erreichbar.',
  unknown: 'Das hat nicht funktioniert.',
  rate_limited: (seconds) => `Zu viele Anfragen. Versuchen Sie es in ${seconds} s erneut.`,
  account_locked: (minutes) => `Zu viele Fehlversuche. Versuchen Sie es in ${minutes} min erneut.`,
  internal: (request) => `Auf dem Server ist ein Fehler aufgetreten${request}.`,
}
