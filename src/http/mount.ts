import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { AnyAction } from '../contract/contract.ts'
import { badRequest, fault } from '../contract/errors.ts'
import { JSON_BODY } from '../contract/limits.ts'
import type { SignedIn } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import { jsonHeaders, sendBytes, writerFor } from './answers.ts'
import { guard } from './guard.ts'
import type { Handler, Outgoing } from './handle.ts'
import { acceptBytes, incomingOf } from './incoming.ts'
import type { Limiter } from './limiter.ts'
import { checkerFor } from './params.ts'

/** What every route needs. */
export interface Parts {
  domain: Domain
  limiter: Limiter
}

type Query = Record<string, unknown>

/** One action ready to be called: the checks that come before a body is read, and the rest. */
interface Route {
  action: AnyAction
  admit(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn | undefined>
  answer(caller: SignedIn | undefined, request: FastifyRequest, reply: FastifyReply): Promise<string | FastifyReply>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the route's first hook, before the body is read. */
    caller: SignedIn | undefined
  }
}

const flatHeaders = (request: FastifyRequest): Record<string, string | undefined> =>
  request.headers as Record<string, string | undefined>

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

/** A signal that aborts when the client hangs up; made only for handlers that ask for it. */
function hangUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  if (reply.raw.destroyed) controller.abort()
  return controller.signal
}

function routeFor({ action, run }: Handler, { domain, limiter }: Parts): Route {
  const checker = checkerFor(action.params)
  const write = action.answers === 'bytes' ? undefined : writerFor(action)
  const call = run as (call: unknown) => Promise<object>
  const readsQuery = action.method === 'GET' || action.sends === 'bytes'

  return {
    action,
    admit: (request, reply) => guard(domain, limiter, action, request, reply),
    async answer(caller, request, reply) {
      const params = readsQuery ? checker.fromTexts(queryOf(request)) : checker.fromJson(request.body)
      const result = await call({
        params,
        caller,
        domain,
        origin: { ip: request.ip, userAgent: String(request.headers['user-agent'] ?? '') },
        headers: flatHeaders(request),
        head: request.method === 'HEAD',
        incoming: action.sends === 'bytes' ? await incomingOf(request) : undefined,
        signal: () => hangUp(reply),
      })
      if (!write) return sendBytes(reply, result as Outgoing)
      // Returned, not sent: a reply returned from an async handler costs listeners on every response.
      void reply.headers(jsonHeaders)
      return write(result)
    },
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
    onRequest: async (request, reply) => {
      request.caller = await route.admit(request, reply)
    },
    handler: (request, reply) => route.answer(request.caller, request, reply),
  })
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Answers what the router left over: a POST that names its action in the body, an action spelt in another way, or a mistake. */
function registerFallback(app: FastifyInstance, path: string, routes: Map<string, Route>): void {
  /** The route an action's name stands for, when this request may take it. */
  function chosen(name: unknown, request: FastifyRequest, reply: FastifyReply): Route {
    const route = typeof name === 'string' ? routes.get(name) : undefined
    if (!route) throw fault('unknown_action')
    const allowed = methodsOf(route.action)
    if (!allowed.includes(request.method)) {
      void reply.header('allow', allowed.join(', '))
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
      if (action !== undefined || request.method !== 'POST') chosen(action, request, reply)
    },
    handler: async (request, reply) => {
      const name = (request.query as Query)['action'] ?? (request.body as Query | undefined)?.['action']
      const route = chosen(name, request, reply)
      return route.answer(await route.admit(request, reply), request, reply)
    },
  })
}

/** Turns handlers into routes: the only place that does. Every action gets a route of its own with its own checks. */
export async function mount(app: FastifyInstance, handlers: readonly Handler[], parts: Parts): Promise<void> {
  app.decorateRequest('caller', undefined)
  const paths = new Map<string, Map<string, Route>>()
  const receiving: Route[] = []
  for (const handler of handlers) {
    const route = routeFor(handler, parts)
    const { name, path, sends } = route.action
    if (sends === 'bytes') receiving.push(route)
    else register(app, route)
    paths.set(path, (paths.get(path) ?? new Map<string, Route>()).set(name, route))
  }
  for (const [path, routes] of paths) registerFallback(app, path, routes)
  await app.register(async (scope) => {
    await acceptBytes(scope)
    for (const route of receiving) register(scope, route)
  })
}
