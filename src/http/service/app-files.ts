import type { FastifyInstance } from 'fastify'
import { fault } from '../../contract/errors.ts'
import type { Domain } from '../../domain/domain.ts'
import { mimeOf } from '../../domain/files/files.ts'
import { sendBytes } from '../answers.ts'
import { contentAnswer } from '../file-answer.ts'
import { appFileHeaders } from '../security-headers.ts'
import { isScript, scriptAnswer } from './app-script.ts'

// The address as it stands in the request, not decoded: what is spelt in another way is another address.
const ADDRESS = /^\/apps\/([a-z0-9][a-z0-9-]{0,62})\/([A-Za-z0-9._@+~=,/-]{1,200})(?:\?|$)/

/** Pictures, fonts and media may be an hour old; what has to fit together is asked for anew, and mostly not sent again. */
const cacheFor = (type: string): string =>
  /^(image|font|audio|video)\//.test(type) ? 'public, max-age=3600' : 'no-cache'

const isText = (type: string): boolean => /^text\/|\/json$|[+/]xml$|\/manifest\+json$/.test(type)

/** `/apps/<slug>/<path>`: files of installed apps, for everybody: a frame without an origin sends no credentials. */
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
      const asked = { headers, head: request.method === 'HEAD', domain }
      return sendBytes(reply, await (isScript(type) ? scriptAnswer : contentAnswer)(asked, described, file))
    },
  })
}
