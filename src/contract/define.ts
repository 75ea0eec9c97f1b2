import type { Static, TObject, TProperties, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { RequestHeader, ResponseHeader } from './headers.ts'
import type { LimitName } from './limits.ts'
import { Type } from './schema.ts'

/** Credentials that an action accepts: device token, browser session, or both. `admin` requires the role too. */
export type Auth = 'anyone' | { device?: true; session?: true; admin?: true }

/** States in which an action stays available to everyone. */
export type OpenIn = 'setup' | 'maintenance'

/** One action of the API as data. Routes, validation, limits, the typed client and the documentation follow from it. */
export interface ActionSpec {
  summary: string
  method: 'GET' | 'POST'
  auth: Auth
  limit: LimitName | 'none'
  /** Cost of a call, charged to `limits.cost` of the account; none for light actions. */
  cost?: number
  /** Called by path and method, without `?action=`. */
  byDefault?: true
  /** Name in the API, if two actions of a path share it and differ in their methods. */
  wireName?: string
  /** Status of a success; 200 if omitted. */
  status?: 201
  /** Rejects cross-site requests although no session is needed. */
  sameOrigin?: true
  openIn?: readonly OpenIn[]
  /** Stores data: refused while only the disk reserve is left. */
  stores?: true
  /** A POST that changes nothing, so that it is allowed while the service is read-only. */
  reads?: true
  /** Query of a GET, JSON body of a POST; for `sends: 'bytes'` the query. Unknown keys are dropped. */
  params: TObject
  /** Request body: a JSON object (the default for POST) or bytes. */
  sends?: 'json' | 'bytes'
  /** Media types of a byte stream. */
  accepts?: readonly ('application/octet-stream' | 'multipart/form-data' | 'application/x-tar')[]
  /** Request headers with a meaning for this action. */
  takesHeaders?: readonly RequestHeader[]
  /** Response headers of a success, in addition to those of the rate limit. */
  answersHeaders?: readonly ResponseHeader[]
  /** Response: JSON (the default), a large JSON document sent unfiltered, or bytes. */
  answers?: 'json' | 'large' | 'bytes'
  /** Can respond with server-sent events, if its parameter `stream` is true. */
  streams?: true
  /** The JSON response. Undeclared fields are never sent. */
  result: TSchema
  errors: readonly ErrorCode[]
  /** Fields of failures in addition to those of their code. */
  failureFields?: TProperties
  /** Parameters that work for an account with the sample data of the documentation; a test sends them. */
  example: object
  /** Largest JSON body in bytes, if not the default. */
  maxBody?: number
  /** Maximum number of values in a JSON body, if not the default. */
  maxValues?: number
}

export type Params<A> = A extends { params: infer P extends TObject } ? Static<P> : never

/** What a handler returns: the response without `ok` and `success`. */
export type Result<A> = A extends { result: infer R extends TSchema } ? Omit<Static<R>, 'ok' | 'success'> : never

/** The whole response, as clients receive it. */
export type Answer<A> = A extends { result: infer R extends TSchema } ? Static<R> : never

/** Declares an action; keeps its precise type. */
export const action = <const S extends ActionSpec>(spec: S): S => spec

export interface Endpoint<S extends Record<string, ActionSpec>> {
  path: string
  actions: { [K in keyof S]: S[K] & { name: string; path: string } }
}

/** Combines the actions of a path and adds name and path to each. */
export function endpoint<S extends Record<string, ActionSpec>>(path: string, specs: S): Endpoint<S> {
  const entries = Object.entries(specs).map(([key, spec]) => [key, { ...spec, name: spec.wireName ?? key, path }])
  return { path, actions: Object.fromEntries(entries) as Endpoint<S>['actions'] }
}

export const none = Type.Object({})
