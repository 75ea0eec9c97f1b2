/** Every error code with its HTTP status and default text. */
export const errors = {
  bad_request: [400, 'The request is not valid.'],
  unknown_action: [400, 'There is no such action here.'],
  bad_path: [400, 'The path is not valid.'],
  too_many_operations: [400, 'Too many entries in one request.'],
  unauthorized: [401, 'Sign in first: the credentials are missing, unknown or expired.'],
  invalid_credentials: [401, 'The user name or the password is wrong.'],
  invalid_code: [401, 'The code is wrong or expired.'],
  '2fa_required': [401, 'The second factor is required.'],
  password_required: [403, 'Enter your current password (`current_password`): your last sign-in was a while ago.'],
  csrf: [403, 'The request did not come from the signed-in page.'],
  forbidden: [403, 'This is not allowed.'],
  cross_domain: [403, 'Own files and room files cannot be moved or copied into each other.'],
  not_found: [404, 'Nicht gefunden'],
  method_not_allowed: [405, 'Method not allowed'],
  exists: [409, 'Something with that name exists already.'],
  not_empty: [409, 'The folder is not empty.'],
  conflict: [409, 'It was changed meanwhile.'],
  epoch_mismatch: [409, 'The server was restored or is another one; synchronise from the start.'],
  gone: [410, 'It is no longer available.'],
  cursor_expired: [410, 'The cursor is too old; synchronise from the start.'],
  precondition_failed: [412, 'The file was changed: the precondition of the request does not hold.'],
  quota_exceeded: [413, 'The storage quota is used up.'],
  too_many_files: [413, 'The account has reached its limit of files and folders.'],
  too_large: [413, 'The content is too large.'],
  unsupported_media_type: [415, 'The content type is not supported here.'],
  range_not_satisfiable: [416, 'The requested range lies outside the file.'],
  misdirected_request: [
    421,
    'The service does not accept this host name. Use its address, or ask an administrator to add the name to `public_url` or `allowed_hosts`.',
  ],
  checksum_mismatch: [422, 'The content does not match its length or checksum; nothing was stored.'],
  idempotency_key_reuse: [422, 'The idempotency key was used for another request.'],
  rate_limited: [429, 'Too many requests; try again later.'],
  account_locked: [429, 'Too many failed attempts; try again later.'],
  internal: [500, 'Interner Fehler'],
  thumbnails_unavailable: [501, 'This server makes no thumbnails: scale the image itself.'],
  maintenance: [503, 'The service is under maintenance.'],
  setup_required: [503, 'The service has no administrator yet: run `svc user add NAME --role admin` on the server.'],
  assistant_unavailable: [503, 'The assistant does not answer at the moment.'],
  busy: [503, 'The service is busy; try again in a moment.'],
  disk_full: [507, "The server's disk is full; nothing was stored."],
} as const satisfies Record<string, readonly [status: number, text: string]>

export type ErrorCode = keyof typeof errors

/** Data of a fault in addition to its code. */
export interface FaultExtra {
  text?: string
  /** Whole seconds for the `Retry-After` header. */
  retryAfter?: number
  /** Further fields of the response, for example `details` or `current`. */
  fields?: Record<string, unknown>
}

/** An error that is reported to the caller with code, status and text. Any other error is a bug and becomes a 500. */
export class Fault extends Error {
  override name = 'Fault'
  readonly code: ErrorCode
  readonly status: number
  readonly extra: FaultExtra

  constructor(code: ErrorCode, extra: FaultExtra = {}) {
    super(extra.text ?? errors[code][1])
    this.code = code
    this.status = errors[code][0]
    this.extra = extra
  }
}

export const fault = (code: ErrorCode, extra?: FaultExtra): Fault => new Fault(code, extra)

/** `bad_request` for the parameter `path`; `message` continues a sentence that begins with its name. */
export const badRequest = (path: string, message: string): Fault =>
  fault('bad_request', { fields: { details: [{ path, message }] } })

/** Whether an error is a fault, of this code if one is given. */
export const isFault = (error: unknown, code?: ErrorCode): error is Fault =>
  error instanceof Fault && (code === undefined || error.code === code)
