import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { SetupState } from '../../domain/accounts/accounts.ts'
import type { Domain } from '../../domain/domain.ts'
import { formPage, messagePage } from './html.ts'

/** What the page is when the link opens nothing. */
const closed: Record<Exclude<SetupState, 'open'>, { status: number; title: string; text: string }> = {
  done: {
    status: 410,
    title: 'The service is set up',
    text: 'It has an administrator already, so this link is over. Sign in instead, or ask the administrator for an account.',
  },
  invalid: {
    status: 404,
    title: 'This set-up link is not valid',
    text: 'It may be cut short or more than half an hour old. Start the server again for a new one, or run on its machine:',
  },
}

// Nothing is loaded, and of all scripts and styles only the two written here count (CSP level 3).
const policyFor = (nonce: string): string =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

/** `/setup?token=…`: the page on which the first administrator is made. */
export function setupPage(app: FastifyInstance, domain: Domain): void {
  app.get('/setup', async (request, reply) => {
    const { token } = request.query as { token?: unknown }
    const state = await domain.accounts.setup.state(typeof token === 'string' ? token : '')
    const nonce = randomBytes(18).toString('base64')
    const { status, title, text } = state === 'open' ? { status: 200, title: '', text: '' } : closed[state]
    const command = state === 'invalid' ? 'svc user add NAME --role admin' : undefined
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-security-policy', policyFor(nonce))
      .send(state === 'open' ? formPage(nonce) : messagePage(nonce, { title, text, command }))
  })
}
