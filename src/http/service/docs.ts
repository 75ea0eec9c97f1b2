import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fault, isFault } from '../../contract/errors.ts'
import { openApi } from '../../contract/openapi.ts'
import { referencePage } from '../../contract/reference.ts'
import type { Domain } from '../../domain/domain.ts'
import { identify } from '../guard.ts'

interface Options {
  domain: Domain
  publicUrl: string
  /** Whether strangers may read it: they learn the version from it. */
  isPublic: boolean
}

const ANY = { auth: { session: true, device: true } } as const

/** The description of the interface: for machines at `/api/openapi.json`, for people at `/api/docs`. */
export function docs(app: FastifyInstance, { domain, publicUrl, isPublic }: Options): void {
  const { version } = domain.instance
  /** For strangers nothing is there, where it is not for them. */
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    if (isPublic) return
    await identify({ domain }, ANY, request).catch((error: unknown) => {
      throw isFault(error, 'unauthorized') || isFault(error, '2fa_required') ? fault('not_found') : error
    })
  }
  // Few ask, and a server that starts has better things to do.
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
