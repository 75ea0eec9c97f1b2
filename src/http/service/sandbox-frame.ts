import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { REMOVE_WEBRTC } from '../../base/webrtc.ts'
import { sandboxHeaders } from '../security-headers.ts'

/**
 * Code around hooks in their worker. In a thread of their own, endless loops block nothing else. There is no page;
 * `window` is an alias of the worker's global scope.
 */
const WORKER = {
  before: String.raw`${REMOVE_WEBRTC}
self.window = self
window.__svcHooks = {}
{
  const fail = (reason) => postMessage({ type: 'failed', message: String(reason?.message ?? reason).slice(0, 500) })
  addEventListener('unhandledrejection', ({ reason }) => fail(reason))
  addEventListener('message', async ({ data }) => {
    try {
      const value = await window.__svcHooks[data.hook](data.value)
      postMessage({ type: 'answer', id: data.id, json: JSON.stringify(value ?? null) })
    } catch (reason) {
      fail(reason)
    }
  })
}
`,
  after: `
postMessage({ type: 'running', hooks: ['dock', 'panel'].filter((name) => typeof window.__svcHooks[name] === 'function') })
`,
} as const

/**
 * Bootstrap script of the frame: receives code from the desktop, runs it, and relays messages. A widget shares the page
 * with it, so the desktop trusts none of its messages.
 *
 * It is the only script that the policy lets the parser run, in this page and in frames that a widget creates from
 * markup, so each realm starts without WebRTC. Scripts of a widget are added as blobs by this script
 * ('strict-dynamic').
 */
const SCRIPT = String.raw`${REMOVE_WEBRTC}(() => {
  const around = ${JSON.stringify(WORKER)}
  const tell = (message) => parent.postMessage(message, '*')
  const fail = (reason) => tell({ type: 'failed', message: String(reason?.message ?? reason).slice(0, 500) })
  let worker
  addEventListener('error', ({ error, message }) => fail(error ?? message))
  addEventListener('unhandledrejection', ({ reason }) => fail(reason))

  function hook(code) {
    worker = new Worker(URL.createObjectURL(new Blob([around.before, code, around.after], { type: 'text/javascript' })))
    worker.addEventListener('message', ({ data }) => tell(data))
    worker.addEventListener('error', (event) => {
      event.preventDefault()
      fail(event.message)
    })
  }

  function show(html) {
    const page = new DOMParser().parseFromString(html, 'text/html')
    const scripts = [...page.querySelectorAll('script')]
    for (const one of scripts) one.remove()
    document.head.append(...page.head.childNodes)
    document.body.append(...page.body.childNodes)
    let left = scripts.length
    const running = () => tell({ type: 'running', hooks: [] })
    for (const { textContent } of scripts) {
      const element = document.createElement('script')
      element.src = URL.createObjectURL(new Blob([textContent], { type: 'text/javascript' }))
      // In the order of the markup.
      element.async = false
      element.onload = element.onerror = () => {
        URL.revokeObjectURL(element.src)
        if (--left === 0) running()
      }
      document.body.append(element)
    }
    if (left === 0) running()
  }

  function fitIn({ theme, language }) {
    document.documentElement.lang = language
    document.documentElement.dataset.theme = theme
    document.documentElement.style.colorScheme = theme
    dispatchEvent(new CustomEvent('svc-surroundings', { detail: { theme, language } }))
  }

  addEventListener('message', ({ source, data }) => {
    if (source !== parent) return
    if (data.type === 'surroundings') fitIn(data)
    else if (data.type === 'ping') tell({ type: 'pong', id: data.id })
    else if (data.type === 'call') worker?.postMessage(data)
    else if (data.type === 'run') {
      fitIn(data)
      if (data.kind === 'widget') show(data.code)
      else hook(data.code)
    }
  })
})()`

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Component</title>
<style>html, body { background: transparent; margin: 0; }</style>
<script>${SCRIPT}</script>
</head>
<body></body>
</html>
`

/** `/sandbox/frame.html`: the public empty page that runs components. */
export function sandboxFrame(app: FastifyInstance): void {
  const headers = sandboxHeaders(createHash('sha256').update(SCRIPT).digest('base64'))
  app.route({
    method: ['GET', 'HEAD'],
    url: '/sandbox/frame.html',
    handler(request, reply) {
      void reply.headers(headers).type('text/html; charset=utf-8')
      return reply.send(request.method === 'HEAD' ? undefined : PAGE)
    },
  })
}
