import { Type, type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { RequestHeader, ResponseHeader } from './headers.ts'
import type { LimitName } from './limits.ts'

/** Which credentials an action takes: a device token, a browser session, or both; `admin` also asks for the role. */
export type Auth = 'anyone' | { device?: true; session?: true; admin?: true }

/** States of the service in which an action still answers everyone: before the first administrator, and in maintenance. */
export type OpenIn = 'setup' | 'maintenance'

/** One `?action=` of the wire, as data: routes, checks, limits, the client and the documentation all follow from it. */
export interface ActionSpec {
  summary: string
  method: 'GET' | 'POST'
  auth: Auth
  limit: LimitName | 'none'
  /** What a call costs of the allowance that all devices and sessions of an account share; what is light costs nothing. */
  cost?: number
  /** Reached without `?action=`, by path and method alone. */
  byDefault?: true
  /** The name on the wire, where two actions of one path share it and differ in their method. */
  wireName?: string
  /** Status of a success, where it is not 200. */
  status?: 201
  /** Refuses requests that another site's page made, although no session is needed. */
  sameOrigin?: true
  openIn?: readonly OpenIn[]
  /** What it sends is stored and takes room: refused while the disk has only its reserve left. */
  stores?: true
  /** A POST that changes nothing, answered like a GET while the service is read-only. */
  reads?: true
  /** Query of a GET, JSON body of a POST; for `sends: 'bytes'` the query. Unknown keys are dropped. */
  params: TObject
  /** What travels up: a JSON object (the default for POST) or a stream of bytes. */
  sends?: 'json' | 'bytes'
  /** The media types of a stream of bytes. */
  accepts?: readonly ('application/octet-stream' | 'multipart/form-data' | 'application/x-tar')[]
  /** Headers of a request that have a meaning of their own here. */
  takesHeaders?: readonly RequestHeader[]
  /** Headers of a success beside those of the rate limit. */
  answersHeaders?: readonly ResponseHeader[]
  /** What comes back: JSON (the default), a large JSON document written as it is, or a stream of bytes. */
  answers?: 'json' | 'large' | 'bytes'
  /** A POST that may be answered as server-sent events: its parameter `stream` asks for them. */
  streams?: true
  /** The JSON answer; fields not named here never leave the server. */
  result: TSchema
  /** Codes beyond those every action can answer. */
  errors: readonly ErrorCode[]
  /** Fields of failures beside those of their code. */
  failureFields?: TProperties
  /** Parameters that work on an account with the rows and files of the documentation; a test sends them. */
  example: object
  /** Largest JSON body in bytes, where it differs from the default. */
  maxBody?: number
  /** Most values of a JSON body, where it differs from the default. */
  maxValues?: number
}

export type Params<A> = A extends { params: infer P extends TObject } ? Static<P> : never

/** What a handler returns: the answer without the envelope's `ok` or `success`, which are added for it. */
export type Result<A> = A extends { result: infer R extends TSchema } ? Omit<Static<R>, 'ok' | 'success'> : never

/** The whole answer, as a client sees it. */
export type Answer<A> = A extends { result: infer R extends TSchema } ? Static<R> : never

/** Declares an action, keeping the precise types of what it says. */
export const action = <const S extends ActionSpec>(spec: S): S => spec

export interface Endpoint<S extends Record<string, ActionSpec>> {
  path: string
  actions: { [K in keyof S]: S[K] & { name: string; path: string } }
}

/** Puts the actions of one path together and tells each its name and path. */
export function endpoint<S extends Record<string, ActionSpec>>(path: string, specs: S): Endpoint<S> {
  const entries = Object.entries(specs).map(([key, spec]) => [key, { ...spec, name: spec.wireName ?? key, path }])
  return { path, actions: Object.fromEntries(entries) as Endpoint<S>['actions'] }
}

export const none = Type.Object({})
