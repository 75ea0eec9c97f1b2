import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { addressBelow, type AnyAction } from '../contract/contract.ts'
import { badRequest, fault } from '../contract/errors.ts'
import { JSON_BODY, JSON_VALUES, OPEN_BODY, OPEN_VALUES } from '../contract/limits.ts'
import { isInSession } from '../domain/accounts/accounts.ts'
import { SAME_MOMENT_MS } from './access.ts'
import { jsonHeaders, sendBytes, writerFor } from './answers.ts'
import { assertToken, CSRF_FIELD } from './cross-site.ts'
import { Asked } from './asked.ts'
import { EventStream, sendEvents, STREAM_SILENCE } from './event-stream.ts'
import { isReading, makeGuard, type Admitted, type Guard, type Watch } from './guard.ts'
import type { Handler, Incoming, Outgoing } from './handle.ts'
import { acceptBytes, heldTo, incomingOf } from './incoming.ts'
import type { JsonLimits } from './json-body.ts'
import { checkerFor } from './params.ts'

type Query = Record<string, unknown>

/** One action ready to be called: the checks that come before a body is read, and the rest. */
interface Route {
  action: AnyAction
  admit(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted>
  answer(admitted: Admitted, request: FastifyRequest, reply: FastifyReply): Promise<string | Readable | FastifyReply>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the route's first hook, before the body is read. */
    admitted: Admitted | undefined
  }
  interface FastifyContextConfig {
    /** Path of the endpoint, whichever address of it was called. */
    endpoint?: string
    action?: string
  }
}

/** The query of a request. Fault `bad_request` when its percent signs make no UTF-8: the parser would take them literally. */
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

/** Until when an answer is still being made after it has begun. */
const streamed = (result: object) => (result instanceof EventStream ? result.produced : undefined)

/** Checks a CSRF token that comes with the body, and what had to wait for it. Faults: `csrf`, `forbidden`. */
function settleToken({ caller, csrfDue }: Admitted, { auth }: AnyAction, fields: unknown): void {
  if (!csrfDue || !caller || !isInSession(caller)) return
  assertToken((fields as Query | undefined)?.[CSRF_FIELD], caller)
  if (auth !== 'anyone' && auth.admin && caller.user.role !== 'admin') throw fault('forbidden')
}

function routeFor({ action, run }: Handler, { domain }: Watch, guard: Guard): Route {
  const checker = checkerFor(action.params)
  const write = action.answers === 'bytes' ? undefined : writerFor(action)
  const call = run as (call: unknown) => Promise<object>
  const readsQuery = action.method === 'GET' || action.sends === 'bytes'

  return {
    action,
    admit: (request, reply) => guard.admit(action, request, reply),
    answer: action.sends === 'bytes' ? receive : respond,
  }

  async function receive(admitted: Admitted, request: FastifyRequest, reply: FastifyReply) {
    const incoming = heldTo(admitted.access, await incomingOf(request))
    try {
      return await respond(admitted, request, reply, incoming)
    } catch (error) {
      incoming.drop()
      throw error
    }
  }

  async function respond(
    admitted: Admitted,
    request: FastifyRequest,
    reply: FastifyReply,
    incoming?: Incoming,
  ): Promise<string | Readable | FastifyReply> {
    const { access } = admitted
    // A body may take minutes to arrive; that of bytes is checked where it is read.
    if (admitted.isBodyDue && !incoming) await access?.recheck()
    settleToken(admitted, action, incoming ? incoming.early : request.body)
    const params = readsQuery ? checker.fromTexts(queryOf(request)) : checker.fromJson(request.body)
    // What takes minutes is not ended for being silent meanwhile.
    if (action.streams) request.raw.socket.setTimeout(STREAM_SILENCE)
    const asked = new Asked({ params, caller: admitted.caller, domain, incoming, access, request, reply })
    const result = await (access ? access.run(() => call(asked), streamed) : call(asked))
    // A change was checked in its transaction, and may have been to end this very access.
    if (isReading(action) || action.streams) await access?.recheck(asked.hasWaited ? 0 : SAME_MOMENT_MS)
    if (!write) return sendBytes(reply, result as Outgoing, access)
    if (result instanceof EventStream) return sendEvents(reply, result, access)
    // Returned, not sent: a reply returned from an async handler costs listeners on every response.
    void reply.code(action.status ?? 200).headers(jsonHeaders)
    const { body, length } = write(result)
    if (length !== undefined) void reply.header('content-length', length)
    return body
  }
}

/** The methods an action takes: bytes can be asked about without being sent. */
const methodsOf = ({ method, answers }: AnyAction): HTTPMethods[] =>
  method === 'GET' && answers === 'bytes' ? ['GET', 'HEAD'] : [method]

/** The most that an action takes as JSON; of strangers no more than they need. */
const jsonLimitsOf = ({ auth, maxBody, maxValues }: AnyAction): JsonLimits =>
  auth === 'anyone'
    ? { bytes: OPEN_BODY, values: OPEN_VALUES }
    : { bytes: maxBody ?? JSON_BODY, values: maxValues ?? JSON_VALUES }

function largestOf(actions: readonly AnyAction[]): JsonLimits {
  const all = actions.map(jsonLimitsOf)
  return { bytes: Math.max(...all.map(({ bytes }) => bytes)), values: Math.max(...all.map(({ values }) => values)) }
}

/** Registers an action at both of its addresses: its endpoint with `?action=`, and below its endpoint. */
function register(app: FastifyInstance, route: Route): void {
  const { action } = route
  const options: RouteOptions = {
    method: methodsOf(action),
    url: action.path,
    config: { endpoint: action.path, action: action.name },
    // Whoever reads a body bounds it.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    onRequest(request, reply, done) {
      request.jsonLimits = jsonLimitsOf(action)
      const pass = (admitted: Admitted) => {
        request.admitted = admitted
        done()
      }
      // Most of what anyone may ask needs no look-up, and so no turn of waiting.
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

/** Answers what the router left over: an action by default, one named in the body or spelt in another way, or a mistake. */
function registerFallback(app: FastifyInstance, path: string, routes: Route[], guard: Guard): void {
  const takes = ({ action }: Route, { method }: FastifyRequest) => methodsOf(action).includes(method)
  /** The route an action's name stands for, or the default one without a name, when this request may take it. */
  function chosen(name: unknown, request: FastifyRequest, reply: FastifyReply): Route {
    const named = routes.filter(({ action }) => (name === undefined ? action.byDefault : action.name === name))
    const route = named.find((one) => takes(one, request))
    if (!route) {
      // Without a name the method comes first: one that nothing here takes is refused as that.
      const isMethodKnown = name !== undefined || routes.some((one) => takes(one, request))
      if (named.length === 0 && isMethodKnown) throw fault('unknown_action')
      const allowed = (named.length > 0 ? named : routes).flatMap(({ action }) => methodsOf(action))
      void reply.header('allow', [...new Set(allowed)].join(', '))
      throw fault('method_not_allowed')
    }
    // Bytes have no place beside a body that names the action.
    if (route.action.sends === 'bytes') throw fault('unknown_action')
    return route
  }
  /** The action's name as the address has it: below the endpoint, or in the query, which only then counts. */
  const nameIn = ({ params, query }: FastifyRequest): unknown =>
    (params as { action?: string }).action ?? (query as Query)['action']
  const options: RouteOptions = {
    method: METHODS,
    url: path,
    config: { endpoint: path },
    onRequest: async (request, reply) => {
      const name = nameIn(request)
      if (Array.isArray(name)) throw badRequest('action', 'is given more than once')
      // Without a name in the address, a POST may still have one in its body.
      const mayBeMeant = routes.filter((one) => takes(one, request) && one.action.sends !== 'bytes')
      const isOpen = name === undefined && request.method === 'POST' && mayBeMeant.length > 0
      if (isOpen && mayBeMeant.length > 1) {
        const actions = mayBeMeant.map(({ action }) => action)
        request.jsonLimits = largestOf(await guard.narrow(actions, request, reply))
        return
      }
      const route = isOpen ? mayBeMeant[0]! : chosen(name, request, reply)
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

/** Turns handlers into routes: the only place that does. Every action gets a route of its own with its own checks. */
export async function mount(app: FastifyInstance, handlers: readonly Handler[], watch: Watch): Promise<void> {
  app.decorateRequest('admitted', undefined)
  const paths = new Map<string, Route[]>()
  const receiving: Route[] = []
  const guard = makeGuard(watch)
  for (const handler of handlers) {
    const route = routeFor(handler, watch, guard)
    const { path, sends } = route.action
    if (sends === 'bytes') receiving.push(route)
    else register(app, route)
    paths.set(path, [...(paths.get(path) ?? []), route])
  }
  for (const [path, routes] of paths) registerFallback(app, path, routes, guard)
  await app.register(async (scope) => {
    await acceptBytes(scope)
    for (const route of receiving) register(scope, route)
  })
}
