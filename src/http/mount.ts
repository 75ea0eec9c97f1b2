import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { addressBelow, type AnyAction } from '../contract/contract.ts'
import { badRequest, fault } from '../contract/errors.ts'
import { JSON_BODY, JSON_VALUES, OPEN_BODY, OPEN_VALUES } from '../contract/limits.ts'
import { isInSession } from '../domain/accounts/accounts.ts'
import { RECHECK_TOLERANCE_MS } from './access.ts'
import { jsonHeaders, sendBytes, makeSerializer } from './responses.ts'
import { assertToken, CSRF_FIELD } from './cross-site.ts'
import { RequestContext } from './request-context.ts'
import { EventStream, sendEvents, STREAM_IDLE_MS } from './event-stream.ts'
import { isReading, makeGuard, type Admitted, type Guard, type GuardDependencies } from './guard.ts'
import type { Handler, Payload, ByteResponse } from './handler.ts'
import { acceptPayloads, withAccessCheck, readPayload } from './payload.ts'
import type { JsonLimits } from './json-body.ts'
import { checkerFor } from './params.ts'

type Query = Record<string, unknown>

/** An action bound to its handler: the checks before the body is read, and the response. */
interface Route {
  action: AnyAction
  admit(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted>
  answer(admitted: Admitted, request: FastifyRequest, reply: FastifyReply): Promise<string | Readable | FastifyReply>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the route's `onRequest` hook, before the body is read. */
    admitted: Admitted | undefined
  }
  interface FastifyContextConfig {
    /** Path of the endpoint, for both addresses of an action. */
    endpoint?: string
    action?: string
  }
}

/** Fault `bad_request` for invalid percent-encoded UTF-8, which the parser would keep as it is. */
function queryOf({ url, query }: FastifyRequest): Query {
  if (url.includes('%')) {
    try {
      decodeURIComponent(url)
    } catch {
      throw badRequest('', 'the query is not UTF-8 behind its percent signs')
    }
  }
  return query as Query
}

/** Resolves when a streamed response has ended. */
const streamed = (result: object) => (result instanceof EventStream ? result.produced : undefined)

/** Checks the CSRF token in the body, and the role check that depended on it. Faults: `csrf`, `forbidden`. */
function checkBodyToken({ caller, isCsrfPending }: Admitted, { auth }: AnyAction, fields: unknown): void {
  if (!isCsrfPending || !caller || !isInSession(caller)) return
  assertToken((fields as Query | undefined)?.[CSRF_FIELD], caller)
  if (auth !== 'anyone' && auth.admin && caller.user.role !== 'admin') throw fault('forbidden')
}

/** Destroys the stream of a response that is not sent. */
function discard({ body }: { body?: unknown }): void {
  if (body instanceof Readable) body.destroy()
}

function routeFor({ action, run }: Handler, { domain }: GuardDependencies, guard: Guard): Route {
  const checker = checkerFor(action.params)
  const write = action.answers === 'bytes' ? undefined : makeSerializer(action)
  const call = run as (call: unknown) => Promise<object>
  const readsQuery = action.method === 'GET' || action.sends === 'bytes'

  return {
    action,
    admit: (request, reply) => guard.admit(action, request, reply),
    answer: action.sends === 'bytes' ? receive : respond,
  }

  async function receive(admitted: Admitted, request: FastifyRequest, reply: FastifyReply) {
    const payload = withAccessCheck(admitted, await readPayload(request))
    try {
      return await respond(admitted, request, reply, payload)
    } catch (error) {
      payload.drain()
      throw error
    }
  }

  async function respond(
    admitted: Admitted,
    request: FastifyRequest,
    reply: FastifyReply,
    payload?: Payload,
  ): Promise<string | Readable | FastifyReply> {
    const { access } = admitted
    // A JSON body may take minutes to arrive. Payloads of bytes are checked while they are read.
    if (!payload && admitted.isBodyLate()) await access?.recheck()
    checkBodyToken(admitted, action, payload ? payload.earlyFields : request.body)
    const params = readsQuery ? checker.fromTexts(queryOf(request)) : checker.fromJson(request.body)
    // A long answer must not hit the idle timeout.
    if (action.streams) request.raw.socket.setTimeout(STREAM_IDLE_MS)
    const context = new RequestContext({ params, caller: admitted.caller, domain, payload, access, request, reply })
    const result = await (access ? access.run(() => call(context), streamed) : call(context))
    // Changes recheck access inside their transaction, and may end this very access themselves.
    try {
      if (isReading(action) || action.streams) await access?.recheck(context.hasWaited ? 0 : RECHECK_TOLERANCE_MS)
    } catch (error) {
      discard(result)
      throw error
    }
    if (!write) return sendBytes(reply, result as ByteResponse, access)
    if (result instanceof EventStream) return sendEvents(reply, result, access)
    // Returned instead of sent: a reply returned from an async handler adds listeners to every response.
    void reply.code(action.status ?? 200).headers(jsonHeaders)
    const { body, length } = write(result)
    if (length !== undefined) void reply.header('content-length', length)
    return body
  }
}

/** Byte responses also answer HEAD. */
const methodsOf = ({ method, answers }: AnyAction): HTTPMethods[] =>
  method === 'GET' && answers === 'bytes' ? ['GET', 'HEAD'] : [method]

/** JSON limits of an action. Actions open to anyone have lower ones. */
const jsonLimitsOf = ({ auth, maxBody, maxValues, streams }: AnyAction): JsonLimits =>
  auth === 'anyone'
    ? { bytes: OPEN_BODY, values: OPEN_VALUES }
    : { bytes: maxBody ?? JSON_BODY, values: maxValues ?? JSON_VALUES, streams: streams === true }

function largestOf(actions: readonly AnyAction[]): JsonLimits {
  const all = actions.map(jsonLimitsOf)
  return { bytes: Math.max(...all.map(({ bytes }) => bytes)), values: Math.max(...all.map(({ values }) => values)) }
}

/** Registers an action at both of its addresses: `?action=` and below its endpoint. */
function register(app: FastifyInstance, route: Route): void {
  const { action } = route
  const limits = jsonLimitsOf(action)
  const options: RouteOptions = {
    method: methodsOf(action),
    url: action.path,
    config: { endpoint: action.path, action: action.name },
    // The body parsers enforce their own limits.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    onRequest(request, reply, done) {
      request.jsonLimits = limits
      const pass = (admitted: Admitted) => {
        request.admitted = admitted
        done()
      }
      // Most public actions are admitted synchronously.
      const admitted = route.admit(request, reply)
      if (admitted instanceof Promise) admitted.then(pass, done)
      else pass(admitted)
    },
    handler: (request, reply) => route.answer(request.admitted!, request, reply),
  }
  app.route({ ...options, constraints: { action: action.name } })
  app.route({ ...options, url: addressBelow(action) })
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Requests without an action route: default actions, actions named in the body, other spellings, errors. */
function registerFallback(app: FastifyInstance, path: string, routes: Route[], guard: Guard): void {
  const acceptsMethod = ({ action }: Route, { method }: FastifyRequest) => methodsOf(action).includes(method)
  /** The route of an action by name, or the default one. Faults: `unknown_action`, `method_not_allowed`. */
  function chosen(name: unknown, request: FastifyRequest, reply: FastifyReply): Route {
    const named = routes.filter(({ action }) => (name === undefined ? action.byDefault : action.name === name))
    const route = named.find((one) => acceptsMethod(one, request))
    if (!route) {
      // Without a name, an unsupported method is reported as such.
      const isMethodKnown = name !== undefined || routes.some((one) => acceptsMethod(one, request))
      if (named.length === 0 && isMethodKnown) throw fault('unknown_action')
      const allowed = (named.length > 0 ? named : routes).flatMap(({ action }) => methodsOf(action))
      void reply.header('allow', [...new Set(allowed)].join(', '))
      throw fault('method_not_allowed')
    }
    // A body of bytes cannot name its action.
    if (route.action.sends === 'bytes') throw fault('unknown_action')
    return route
  }
  /** The action named by the address: a path segment below the endpoint, or the query. */
  const nameIn = ({ params, query }: FastifyRequest): unknown =>
    (params as { action?: string }).action ?? (query as Query)['action']
  const options: RouteOptions = {
    method: METHODS,
    url: path,
    config: { endpoint: path },
    onRequest: async (request, reply) => {
      const name = nameIn(request)
      if (Array.isArray(name)) throw badRequest('action', 'is given more than once')
      // Without a name in the address, a POST may name its action in the body.
      const candidates = routes.filter((one) => acceptsMethod(one, request) && one.action.sends !== 'bytes')
      const isOpen = name === undefined && request.method === 'POST' && candidates.length > 0
      if (isOpen && candidates.length > 1) {
        const actions = candidates.map(({ action }) => action)
        request.jsonLimits = largestOf(await guard.narrow(actions, request, reply))
        return
      }
      const route = isOpen ? candidates[0]! : chosen(name, request, reply)
      request.jsonLimits = jsonLimitsOf(route.action)
      request.admitted = await route.admit(request, reply)
    },
    handler: async (request, reply) => {
      const name = nameIn(request) ?? (request.body as Query | null | undefined)?.['action']
      const route = chosen(name, request, reply)
      request.admitted ??= await route.admit(request, reply)
      return route.answer(request.admitted, request, reply)
    },
  }
  app.route(options)
  app.route({ ...options, url: `${path}/:action(.+)` })
}

/** Registers one route per action with its own checks. The only place that creates routes from the contract. */
export async function mount(
  app: FastifyInstance,
  handlers: readonly Handler[],
  deps: GuardDependencies,
): Promise<void> {
  app.decorateRequest('admitted', undefined)
  const paths = new Map<string, Route[]>()
  const receiving: Route[] = []
  const guard = makeGuard(deps)
  for (const handler of handlers) {
    const route = routeFor(handler, deps, guard)
    const { path, sends } = route.action
    if (sends === 'bytes') receiving.push(route)
    else register(app, route)
    paths.set(path, [...(paths.get(path) ?? []), route])
  }
  for (const [path, routes] of paths) registerFallback(app, path, routes, guard)
  await app.register(async (scope) => {
    await acceptPayloads(scope)
    for (const route of receiving) register(scope, route)
  })
}
