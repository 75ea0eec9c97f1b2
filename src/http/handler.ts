import type { Readable } from 'node:stream'
import type { JsonList } from '../domain/json-list.ts'
import type { AnyAction } from '../contract/contract.ts'
import type { Auth, Params, Result } from '../contract/define.ts'
import type { Caller, InSession, SignedIn } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import type { EventStream } from './event-stream.ts'

export interface Origin {
  /** Client address; behind trusted proxies, the address they report. */
  ip: string
  userAgent: string
  /** Whether `ip` belongs to an untrusted proxy and is therefore shared by all its clients. */
  isShared: boolean
}

/** The body of an action that receives bytes. */
export interface Payload {
  body: AsyncIterable<Uint8Array>
  /** Content-Length; undefined for chunked and multipart bodies. */
  length: number | undefined
  /** Multipart fields before the file. */
  earlyFields: Record<string, string>
  /** File name given by the sender; undefined for a raw body. */
  filename: string | undefined
  /** All multipart fields. Call it after `body` has been read to its end. */
  fields(): Promise<Record<string, string>>
  /** Discards the rest of the body. Clients read a response only after they have sent everything. */
  drain(): void
}

/** The response of an action that sends bytes; `body` is undefined for 304 and HEAD. */
export interface ByteResponse {
  status: number
  headers: Record<string, string>
  body: Readable | Buffer | undefined
}

type CallerOf<A> = A extends { auth: 'anyone' }
  ? undefined
  : A extends { auth: { session: true; device: true } }
    ? Caller
    : A extends { auth: { session: true } }
      ? InSession
      : SignedIn

export interface Call<A> {
  params: Params<A>
  caller: CallerOf<A>
  domain: Domain
  origin: Origin
  /** Request headers by lower-case name. */
  headers: Record<string, string | undefined>
  /** Returns a signal that aborts when the client disconnects or its access ends. */
  signal(): AbortSignal
  /** Logs an error that occurs after the response has started. */
  report(error: unknown): void
  head: boolean
  /** The session ID in the cookie, unverified: logins start without a session. */
  cookie: string | undefined
  /** Sets the session cookie, or deletes it with undefined. */
  setCookie(value: string | undefined): Promise<void>
  payload: A extends { sends: 'bytes' } ? Payload : undefined
}

/** A result whose lists may be serialized already. */
type WithText<T> = T extends readonly unknown[]
  ? T | JsonList
  : T extends object
    ? { [Name in keyof T]: WithText<T[Name]> }
    : T

type HandlerResult<A> = A extends { answers: 'bytes' }
  ? ByteResponse
  : A extends { answers: 'large' }
    ? WithText<Result<A>>
    : A extends { streams: true }
      ? Result<A> | EventStream
      : Result<A>

export interface Handler {
  action: AnyAction & { auth: Auth }
  // Handlers of all actions share one list; `handle` checks the precise type.
  run: (call: never) => Promise<unknown>
}

/** Binds an action of the contract to its implementation. `mount.ts` has already validated the call. */
export const handle = <A extends AnyAction>(action: A, run: (call: Call<A>) => Promise<HandlerResult<A>>): Handler => ({
  action,
  run,
})
