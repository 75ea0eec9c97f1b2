import type { FastifyInstance } from 'fastify'
import { fault } from '../../contract/errors.ts'
import type { Domain } from '../../domain/domain.ts'
import { mimeOf } from '../../domain/files/files.ts'
import { sendBytes } from '../responses.ts'
import { contentResponse } from '../file-response.ts'
import { appFileHeaders } from '../security-headers.ts'
import { isScript, scriptResponse } from './app-script.ts'

// Matches the raw URL, so that encoded variants are different addresses.
const ADDRESS = /^\/apps\/([a-z0-9][a-z0-9-]{0,62})\/([A-Za-z0-9._@+~=,/-]{1,200})(?:\?|$)/

/** Media may be an hour old. Scripts, styles and pages must match each other, so they are revalidated. */
const cacheFor = (type: string): string =>
  /^(image|font|audio|video)\//.test(type) ? 'public, max-age=3600' : 'no-cache'

const isText = (type: string): boolean => /^text\/|\/json$|[+/]xml$|\/manifest\+json$/.test(type)

/** `/apps/<slug>/<path>`: files of installed apps, public because frames without an origin send no credentials. */
export function appFiles(app: FastifyInstance, domain: Domain): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/apps/*',
    async handler(request, reply) {
      const [, slug, path] = ADDRESS.exec(request.url) ?? []
      const file = slug && path ? await domain.desktop.releases.file(slug, path) : undefined
      if (!path || !file) throw fault('not_found')
      const type = mimeOf(path)
      const described = {
        ...appFileHeaders,
        'content-type': isText(type) ? `${type}; charset=utf-8` : type,
        'cache-control': cacheFor(type),
      }
      const headers = request.headers as Record<string, string | undefined>
      const call = { headers, head: request.method === 'HEAD', domain }
      return sendBytes(reply, await (isScript(type) ? scriptResponse : contentResponse)(call, described, file))
    },
  })
}
