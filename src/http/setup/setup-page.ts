import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { SetupState } from '../../domain/accounts/accounts.ts'
import type { Domain } from '../../domain/domain.ts'
import { formPage, messagePage } from './html.ts'
import { setupWordsFor, type SetupWords } from './words.ts'

// Loads nothing. Only the script and style with the nonce run (CSP level 3).
const policyFor = (nonce: string): string =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

function pageOf(state: SetupState, nonce: string, words: SetupWords): string {
  if (state === 'open') return formPage(nonce, words)
  return state === 'done'
    ? messagePage(nonce, words, { title: words.closed_title, text: words.closed_text })
    : messagePage(nonce, words, {
        title: words.invalid_title,
        text: words.invalid_text,
        command: 'svc user add NAME --role admin',
      })
}

/** `/setup?token=…`: the page that creates the first administrator. */
export function setupPage(app: FastifyInstance, domain: Domain): void {
  app.get('/setup', async (request, reply) => {
    const { token } = request.query as { token?: unknown }
    const state = await domain.accounts.setup.state(typeof token === 'string' ? token : '')
    const nonce = randomBytes(18).toString('base64')
    const words = setupWordsFor(request.headers['accept-language'])
    return reply
      .code({ open: 200, done: 410, invalid: 404 }[state])
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('vary', 'accept-language')
      .header('content-security-policy', policyFor(nonce))
      .send(pageOf(state, nonce, words))
  })
}
