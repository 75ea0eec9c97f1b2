import { Busy, errorCode, DiskFull, Unavailable } from '../../../base/errors.ts'
import type { S3Location } from './s3-location.ts'

/** The store answered with an error. The message is written for the administrator. */
export class S3Failure extends Unavailable {
  override name = 'S3Failure'
  readonly status: number
  /** The S3 error code, such as `NoSuchBucket`; empty if the response has none. */
  readonly code: string
  /** The store's message; may be empty. */
  readonly said: string
  constructor(message: string, status: number, code: string, said = '') {
    super(message)
    this.status = status
    this.code = code
    this.said = said
  }
}

/** Nothing arrived within the time limit. */
export class ResponseTimeout extends Error {
  override name = 'ResponseTimeout'
  readonly code = 'ETIMEDOUT'
}

/** The connection failed or broke; `cause` says why. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

const PASSING = new Set([429, 500, 502, 503, 504])
const PASSING_CODES = new Set(['InternalError', 'RequestTimeout', 'ServiceUnavailable', 'SlowDown', 'Throttling'])
const FULL = /quotaexceeded|storagefull|insufficientstorage|insufficientcapacity/i

/** Converts a response with an error and the fields of its body; the message says what to do. */
export function failureIn(
  place: S3Location,
  { status, headers }: { status: number; headers: Headers },
  { Code = '', Message = '' }: { Code?: string; Message?: string },
): S3Failure {
  return new S3Failure(sentenceOf(place, status, Code, headers), status, Code, Message)
}

function sentenceOf(place: S3Location, status: number, code: string, headers: Headers): string {
  const { bucket, region, name, variables, rights } = place
  const real = headers.get('x-amz-bucket-region')
  if (code === 'NoSuchBucket') return `There is no bucket ${bucket} (${name}): create it, or correct the address.`
  if (code === 'InvalidAccessKeyId')
    return `The store ${name} does not know the access key: correct ${variables}AWS_ACCESS_KEY_ID.`
  if (code === 'SignatureDoesNotMatch')
    return `The store ${name} refuses the signature: correct ${variables}AWS_SECRET_ACCESS_KEY, or the region ${region}.`
  if (code === 'RequestTimeTooSkewed')
    return `The clock of this machine and that of the store ${name}, which says ${headers.get('date') ?? 'another time'}, differ too much: set the clock of this machine, and have it synchronised.`
  if (code === 'ExpiredToken' || code === 'InvalidToken')
    return `The store ${name} refuses the session token: renew the keys and ${variables}AWS_SESSION_TOKEN.`
  if (code === 'AuthorizationHeaderMalformed' || (status >= 300 && status < 400))
    return `The bucket ${bucket} (${name}) is not in the region ${region}: ${real ? `write region=${real}` : 'correct the region or the endpoint'} in the address.`
  if (status === 403) return `The store ${name} denies access: give the key the rights to ${rights}.`
  return `The store ${name} answered ${status}${code && ` ${code}`}.`
}

const NETWORK: Record<string, string> = {
  ENOTFOUND: 'has an unknown host: correct the endpoint, or the network of this machine.',
  EAI_AGAIN: 'has a host whose address could not be asked for: is this machine connected?',
  ECONNREFUSED: 'refuses the connection: is it running, and is the port right?',
  ETIMEDOUT: 'is silent: is it reachable from this machine?',
  UND_ERR_CONNECT_TIMEOUT: 'is silent: is it reachable from this machine?',
  EHOSTUNREACH: 'cannot be reached from this machine.',
  ENETUNREACH: 'cannot be reached from this machine.',
}

/** Code of a network error, which may be nested in causes. */
function networkCode(error: unknown): string {
  for (let at = error as Error | undefined; at; at = at.cause as Error | undefined)
    if (errorCode(at)) return errorCode(at)
  return ''
}

function networkSentence({ name }: S3Location, error: unknown): string {
  const code = networkCode(error)
  if (NETWORK[code]) return `The store ${name} ${NETWORK[code]}`
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER/.test(code))
    return `The store ${name} shows a certificate that this machine does not trust (${code}): correct it, or name its authority in NODE_EXTRA_CA_CERTS.`
  return `The connection to the store ${name} broke${code && ` (${code})`}. Try again in a moment.`
}

/** Whether the store refused before it did anything: repeating the request is safe. */
export const isRefusedUnprocessed = (error: unknown): boolean =>
  error instanceof S3Failure && (error.status === 503 || error.status === 429)

const isNetwork = (error: unknown): boolean => error instanceof ResponseTimeout || error instanceof ConnectionLost

const isFull = (error: S3Failure): boolean => error.status === 507 || FULL.test(error.code)

/** Whether a retry may help. */
export const isTransient = (error: unknown): boolean =>
  error instanceof S3Failure
    ? !isFull(error) && (PASSING.has(error.status) || PASSING_CODES.has(error.code))
    : isNetwork(error)

/** The error after the last retry: `Busy`, `DiskFull` or the failure itself. */
export function fromS3Error(place: S3Location, error: unknown): unknown {
  if (isNetwork(error)) return new Busy(networkSentence(place, error), { cause: error })
  if (!(error instanceof S3Failure)) return error
  if (isFull(error)) return new DiskFull(`The store ${place.name} is full or its quota is used up.`, { cause: error })
  if (isTransient(error)) return new Busy(`${error.message} Try again in a moment.`, { cause: error })
  return error
}
