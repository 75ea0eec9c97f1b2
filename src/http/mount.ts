import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { AnyAction } from '../contract/contract.ts'
import { badRequest, fault } from '../contract/errors.ts'
import { JSON_BODY } from '../contract/limits.ts'
import { isInSession } from '../domain/accounts/accounts.ts'
import { jsonHeaders, sendBytes, writerFor } from './answers.ts'
import { assertToken, CSRF_FIELD } from './cross-site.ts'
import { Asked } from './asked.ts'
import { EventStream, sendEvents, STREAM_SILENCE } from './event-stream.ts'
import { makeGuard, type Admitted, type Guard, type Watch } from './guard.ts'
import type { Handler, Incoming, Outgoing } from './handle.ts'
import { acceptBytes, incomingOf } from './incoming.ts'
import { checkerFor } from './params.ts'

type Query = Record<string, unknown>

/** One action ready to be called: the checks that come before a body is read, and the rest. */
interface Route {
  action: AnyAction
  admit(request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted>
  answer(admitted: Admitted, request: FastifyRequest, reply: FastifyReply): Promise<string | FastifyReply>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the route's first hook, before the body is read. */
    admitted: Admitted | undefined
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
    admit: (request, reply) => guard(action, request, reply),
    answer: action.sends === 'bytes' ? receive : respond,
  }

  async function receive(admitted: Admitted, request: FastifyRequest, reply: FastifyReply) {
    const incoming = await incomingOf(request)
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
  ): Promise<string | FastifyReply> {
    settleToken(admitted, action, incoming ? incoming.early : request.body)
    const params = readsQuery ? checker.fromTexts(queryOf(request)) : checker.fromJson(request.body)
    // What takes minutes is not ended for being silent meanwhile.
    if (action.streams) request.raw.socket.setTimeout(STREAM_SILENCE)
    const result = await call(new Asked({ params, caller: admitted.caller, domain, incoming, request, reply }))
    if (!write) return sendBytes(reply, result as Outgoing)
    if (result instanceof EventStream) return sendEvents(reply, result)
    // Returned, not sent: a reply returned from an async handler costs listeners on every response.
    void reply.code(action.status ?? 200).headers(jsonHeaders)
    return write(result)
  }
}

/** The methods an action takes: bytes can be asked about without being sent. */
const methodsOf = ({ method, answers }: AnyAction): HTTPMethods[] =>
  method === 'GET' && answers === 'bytes' ? ['GET', 'HEAD'] : [method]

function register(app: FastifyInstance, route: Route): void {
  const { action } = route
  app.route({
    method: methodsOf(action),
    url: action.path,
    constraints: { action: action.name },
    config: { action: action.name },
    bodyLimit: action.sends === 'bytes' ? Number.MAX_SAFE_INTEGER : (action.maxBody ?? JSON_BODY),
    onRequest(request, reply, done) {
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
  })
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Answers what the router left over: an action by default, one named in the body or spelt in another way, or a mistake. */
function registerFallback(app: FastifyInstance, path: string, routes: Route[]): void {
  const takes = ({ action }: Route, { method }: FastifyRequest) => methodsOf(action).includes(method)
  /** The route an action's name stands for, or the default one without a name, when this request may take it. */
  function chosen(name: unknown, request: FastifyRequest, reply: FastifyReply): Route {
    const named = routes.filter(({ action }) => (name === undefined ? action.byDefault : action.name === name))
    if (named.length === 0) throw fault('unknown_action')
    const route = named.find((one) => takes(one, request))
    if (!route) {
      void reply.header('allow', named.flatMap(({ action }) => methodsOf(action)).join(', '))
      throw fault('method_not_allowed')
    }
    // Bytes have no place beside a body that names the action.
    if (route.action.sends === 'bytes') throw fault('unknown_action')
    return route
  }
  app.route({
    method: METHODS,
    url: path,
    onRequest: async (request, reply) => {
      const { action } = request.query as Query
      if (Array.isArray(action)) throw badRequest('action', 'is given more than once')
      // Without a name in the query, a POST may still have one in its body.
      if (action !== undefined || request.method !== 'POST') chosen(action, request, reply)
    },
    handler: async (request, reply) => {
      const name = (request.query as Query)['action'] ?? (request.body as Query | null | undefined)?.['action']
      const route = chosen(name, request, reply)
      request.admitted = await route.admit(request, reply)
      return route.answer(request.admitted, request, reply)
    },
  })
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
  for (const [path, routes] of paths) registerFallback(app, path, routes)
  await app.register(async (scope) => {
    await acceptBytes(scope)
    for (const route of receiving) register(scope, route)
  })
}
