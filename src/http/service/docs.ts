import type { FastifyInstance } from 'fastify'
import { openApi } from '../../contract/openapi.ts'
import { referencePage } from '../../contract/reference.ts'

/** The description of the interface: for machines at `/api/openapi.json`, for people at `/api/docs`. */
export function docs(app: FastifyInstance, version: string): void {
  const description = JSON.stringify(openApi(version))
  const page = referencePage(version)
  app.get('/api/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(description))
  app.get('/api/docs', (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header(
        'content-security-policy',
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
      )
      .send(page),
  )
}
