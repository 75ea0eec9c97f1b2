import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import type { Incoming, Origin } from './handle.ts'
import { sessionCookieOf, setSessionCookie } from './session-cookie.ts'

interface Parts {
  params: Record<string, unknown>
  caller: Caller | undefined
  domain: Domain
  incoming: Incoming | undefined
  request: FastifyRequest
  reply: FastifyReply
}

/** What a handler is called with. Most of it few handlers ask for, so it is made when they do: `Call` in `handle.ts`. */
export class Asked {
  readonly params: Record<string, unknown>
  readonly caller: Caller | undefined
  readonly domain: Domain
  readonly incoming: Incoming | undefined
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor({ params, caller, domain, incoming, request, reply }: Parts) {
    this.params = params
    this.caller = caller
    this.domain = domain
    this.incoming = incoming
    this.#request = request
    this.#reply = reply
  }

  get origin(): Origin {
    return { ip: this.#request.ip, userAgent: String(this.#request.headers['user-agent'] ?? '') }
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

  // Handlers take these out of the call: bound, so that they work on their own.
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
      this.#reply.raw.once('close', () => controller.abort())
      if (this.#reply.raw.destroyed) controller.abort()
      return controller.signal
    }
  }
}
