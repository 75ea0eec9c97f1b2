import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fault, isFault } from '../../contract/errors.ts'
import { openApi } from '../../contract/openapi.ts'
import { referencePage } from '../../contract/reference.ts'
import type { Domain } from '../../domain/domain.ts'
import { identify } from '../guard.ts'

interface Options {
  domain: Domain
  publicUrl: string
  /** Whether anonymous clients may read the description; it reveals the version. */
  isPublic: boolean
}

const ANY_CREDENTIALS = { auth: { session: true, device: true } } as const

/** The API description: `/api/openapi.json` for programs, `/api/docs` for people. */
export function docs(app: FastifyInstance, { domain, publicUrl, isPublic }: Options): void {
  const { version } = domain.instance
  /** Anonymous clients get 404 unless the description is public. */
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    if (isPublic) return
    await identify({ domain }, ANY_CREDENTIALS, request).catch((error: unknown) => {
      throw isFault(error, 'unauthorized') || isFault(error, '2fa_required') ? fault('not_found') : error
    })
  }
  // Built on first use, so that the server starts faster.
  let description: string | undefined
  let page: string | undefined
  app.get('/api/openapi.json', { onRequest }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send((description ??= JSON.stringify(openApi(version, publicUrl)))),
  )
  app.get('/api/docs', { onRequest }, (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header(
        'content-security-policy',
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
      )
      .send((page ??= referencePage(version))),
  )
}
