import type { Readable } from 'node:stream'
import type { JsonList } from '../domain/json-list.ts'
import type { AnyAction } from '../contract/contract.ts'
import type { Auth, Params, Result } from '../contract/define.ts'
import type { Caller, InSession, SignedIn } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import type { EventStream } from './event-stream.ts'

/** Who sent the request and from where. */
export interface Origin {
  /** Address of the client, behind trusted proxies the one they name. */
  ip: string
  userAgent: string
  /** Whether that is the address of a proxy which nobody named, and so of everybody who comes through it. */
  isShared: boolean
}

/** The body of an action that takes bytes. */
export interface Incoming {
  body: AsyncIterable<Uint8Array>
  /** Bytes announced by Content-Length; undefined for chunked and multipart bodies. */
  length: number | undefined
  /** Fields of a multipart body that came before its file. */
  early: Record<string, string>
  /** Name of the file as the sender calls it; undefined for a raw body. */
  filename: string | undefined
  /** Fields that stood beside the file in a multipart body; to be asked for once `body` has been read to its end. */
  fields(): Promise<Record<string, string>>
  /** Reads on and throws away what nobody read: a client hears a refusal only after it has said everything. */
  drop(): void
}

/** What an action that answers bytes sends; `body` undefined for 304 and HEAD. */
export interface Outgoing {
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
  /** Request headers, lower-case. */
  headers: Record<string, string | undefined>
  /** A signal that aborts when the client hangs up or its access ends; made for whoever waits. */
  signal(): AbortSignal
  /** Logs an error that comes when the answer is under way already. */
  report(error: unknown): void
  /** Whether the request was HEAD. */
  head: boolean
  /** The session id the browser sent, whatever it is worth; for logins, which begin without a session. */
  cookie: string | undefined
  /** Begins a session in the browser, or with undefined ends it there. */
  setCookie(value: string | undefined): Promise<void>
  incoming: A extends { sends: 'bytes' } ? Incoming : undefined
}

/** A result in which lists may be text already. */
type WithText<T> = T extends readonly unknown[]
  ? T | JsonList
  : T extends object
    ? { [Name in keyof T]: WithText<T[Name]> }
    : T

type Returned<A> = A extends { answers: 'bytes' }
  ? Outgoing
  : A extends { answers: 'large' }
    ? WithText<Result<A>>
    : A extends { streams: true }
      ? Result<A> | EventStream
      : Result<A>

export interface Handler {
  action: AnyAction & { auth: Auth }
  // The precise type is checked in `handle`; here all handlers stand side by side.
  run: (call: never) => Promise<unknown>
}

/** Ties an action of the contract to the code that answers it. Nothing is parsed or checked here: `mount.ts` did that. */
export const handle = <A extends AnyAction>(action: A, run: (call: Call<A>) => Promise<Returned<A>>): Handler => ({
  action,
  run,
})
