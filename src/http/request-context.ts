import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../domain/accounts/accounts.ts'
import type { Access } from './access.ts'
import type { Domain } from '../domain/domain.ts'
import type { Payload, Origin } from './handler.ts'
import { isUntrustedProxy } from './proxies.ts'
import { sessionCookieOf, setSessionCookie } from './session-cookie.ts'

interface ContextOptions {
  access: Access | undefined
  params: Record<string, unknown>
  caller: Caller | undefined
  domain: Domain
  payload: Payload | undefined
  request: FastifyRequest
  reply: FastifyReply
}

/** Implements `Call` of `handler.ts`. Rarely used fields are computed on access. */
export class RequestContext {
  readonly params: Record<string, unknown>
  readonly caller: Caller | undefined
  readonly domain: Domain
  readonly payload: Payload | undefined
  /** Whether the handler asked for the abort signal, which means that it may wait. */
  hasWaited = false
  readonly #access: Access | undefined
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor({ params, caller, domain, payload, access, request, reply }: ContextOptions) {
    this.params = params
    this.caller = caller
    this.domain = domain
    this.payload = payload
    this.#access = access
    this.#request = request
    this.#reply = reply
  }

  get origin(): Origin {
    const { ip, headers } = this.#request
    return { ip, userAgent: String(headers['user-agent'] ?? ''), isShared: isUntrustedProxy(this.#request) }
  }

  get headers(): Record<string, string | undefined> {
    return this.#request.headers as Record<string, string | undefined>
  }

  get head(): boolean {
    return this.#request.method === 'HEAD'
  }

  get cookie(): string | undefined {
    return sessionCookieOf(this.#request.headers.cookie)
  }

  // Handlers destructure these methods, so they are bound.
  get setCookie() {
    return async (value: string | undefined): Promise<void> => {
      const { public_url } = await this.domain.instance.settings.values()
      this.#reply.header('set-cookie', setSessionCookie(value, public_url.startsWith('https:')))
    }
  }

  get report() {
    return (error: unknown): void => this.#request.log.error({ err: error }, 'answer broke off')
  }

  get signal() {
    return (): AbortSignal => {
      const controller = new AbortController()
      const abort = () => controller.abort()
      this.hasWaited = true
      this.#reply.raw.once('close', abort)
      if (this.#reply.raw.destroyed) abort()
      const unwatch = this.#access?.watch((refusal) => controller.abort(refusal))
      if (unwatch) this.#reply.raw.once('close', unwatch)
      return controller.signal
    }
  }
}
