import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Domain } from '../../domain/domain.ts'
import { appFrameHeaders } from '../security-headers.ts'

/** Loads the address named by the desktop, once, and relays messages of this frame only. */
const SCRIPT = `(() => {
  let app
  addEventListener('message', ({ source, data }) => {
    if (source === parent && app) app.contentWindow.postMessage(data, '*')
    else if (source === parent && data.type === 'svc-load') {
      app = document.createElement('iframe')
      app.title = document.title
      app.sandbox = 'allow-scripts allow-forms allow-popups allow-downloads'
      app.allow = ''
      app.referrerPolicy = 'no-referrer'
      app.src = data.address
      document.body.append(app)
    } else if (app && source === app.contentWindow) parent.postMessage(data, '*')
  })
  parent.postMessage({ type: 'svc-frame' }, '*')
})()`

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>App</title>
<style>html, body, iframe { border: 0; display: block; height: 100%; margin: 0; width: 100%; }</style>
</head>
<body><script>${SCRIPT}</script></body>
</html>
`

/**
 * `/sandbox/app.html?origin=…`: the page around an app of another origin. Its policy frames that origin only, so
 * messages from the frame always come from the app. The desktop's own policy does not have to allow the origin, so no
 * other frame can navigate there.
 */
export function appFrame(app: FastifyInstance, domain: Domain): void {
  const hash = createHash('sha256').update(SCRIPT).digest('base64')
  app.route<{ Querystring: { origin?: unknown } }>({
    method: ['GET', 'HEAD'],
    url: '/sandbox/app.html',
    async handler(request, reply) {
      const { 'apps.allowed_origins': allowed } = await domain.instance.settings.values()
      const origin = allowed.map((one) => new URL(one).origin).find((one) => one === request.query.origin)
      void reply.headers(appFrameHeaders(hash, origin)).type('text/html; charset=utf-8')
      return reply.send(request.method === 'HEAD' ? undefined : PAGE)
    },
  })
}
