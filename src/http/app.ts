import Fastify, { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { fault } from '../contract/errors.ts'
import type { Domain } from '../domain/domain.ts'
import { adminHandlers } from './admin/admin.ts'
import { accountSettingsHandlers } from './account-settings/account-settings.ts'
import { actionConstraint } from './action-constraint.ts'
import { answerError } from './answers.ts'
import { appsHandlers } from './apps/apps.ts'
import { assistantHandlers } from './assistant/assistant.ts'
import { desktopComponentsHandlers } from './desktop-components/desktop-components.ts'
import { failureBody } from './failure-body.ts'
import { filesystemHandlers } from './filesystem/filesystem.ts'
import { makeLimiter } from './limiter.ts'
import type { Machine } from './machine.ts'
import { mount } from './mount.ts'
import { securityHeaders } from './security-headers.ts'
import { appFiles } from './service/app-files.ts'
import { docs } from './service/docs.ts'
import { health } from './service/health.ts'
import { metrics } from './service/metrics.ts'
import { rowsHandlers } from './rows/rows.ts'
import { desktopFiles } from './service/desktop-files.ts'
import { sandboxFrame } from './service/sandbox-frame.ts'
import { sessionLogin2faHandlers } from './session-login2fa/session-login2fa.ts'
import { sessionLoginHandlers } from './session-login/session-login.ts'
import { sessionLogoutHandlers } from './session-logout/session-logout.ts'
import { sessionHandlers } from './session/session.ts'
import { setupPage } from './setup/page.ts'
import { setupHandlers } from './setup/setup.ts'
import { syncAuthHandlers } from './sync-auth/sync-auth.ts'
import { syncDataHandlers } from './sync-data/sync-data.ts'
import { syncFilesHandlers } from './sync-files/sync-files.ts'
import { syncStatusHandlers } from './sync-status/sync-status.ts'
import { trashHandlers } from './trash/trash.ts'
import { versionsHandlers } from './versions/versions.ts'
import { teamChatHandlers } from './team-chat/team-chat.ts'

export interface AppOptions {
  domain: Domain
  clock: Clock
  /** Where log entries go, or false for none. */
  logger: FastifyServerOptions['logger']
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[]
  /** Who may read /metrics. */
  metrics: string
  /** Where the built desktop is; without the folder none is served. */
  desktopFolder: string
  /** What /readyz answers, and administrators are shown of the machine. */
  machine: Machine
}

const handlers = [
  ...syncAuthHandlers,
  ...syncDataHandlers,
  ...syncFilesHandlers,
  ...syncStatusHandlers,
  ...sessionLoginHandlers,
  ...sessionLogin2faHandlers,
  ...sessionHandlers,
  ...sessionLogoutHandlers,
  ...accountSettingsHandlers,
  ...setupHandlers,
  ...rowsHandlers,
  ...filesystemHandlers,
  ...trashHandlers,
  ...versionsHandlers,
  ...teamChatHandlers,
  ...assistantHandlers,
  ...desktopComponentsHandlers,
  ...appsHandlers,
]

/** The whole server: every route, in one place. */
export async function makeApp({
  domain,
  clock,
  logger,
  trustedProxies,
  metrics: readers,
  desktopFolder,
  machine,
}: AppOptions): Promise<FastifyInstance> {
  const headers = securityHeaders((await domain.instance.settings.values()).public_url)
  const app = Fastify({
    logger: logger ?? false,
    // One line a request, written when it is answered, comes from `logRequests`.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    routerOptions: { constraints: { action: actionConstraint as never }, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    // Idle connections end; requests may last as long as they move (large uploads on slow lines).
    connectionTimeout: 120_000,
    keepAliveTimeout: 65_000,
    requestTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // An address that cannot be decoded comes to no route and to no hook.
    frameworkErrors(_error, request, reply) {
      answerError(fault('bad_request', { text: 'The address is not valid.' }), request, reply.headers(headers))
    },
    clientErrorHandler(error, socket) {
      if (!socket.writable) return
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
      const body = JSON.stringify(failureBody(fault('bad_request', { text: 'The request is not valid HTTP.' })))
      const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`
      socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`)
    },
  })
  // A server may ignore expectations it does not know (RFC 9110, 10.1.1); Node would answer them with an empty 417.
  app.server.on('checkExpectation', app.routing)
  app.server.headersTimeout = 15_000
  app.server.maxConnections = 4_096

  // JSON only: a form or plain text could be sent by any web page without asking.
  app.removeContentTypeParser(['text/plain', 'application/json'])
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    // Actions without parameters may come with the header and without a body.
    if (body === '') done(null, {})
    else void parseJson(request, body, done)
  })
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request, reply) => answerError(fault('not_found'), request, reply))
  logRequests(app)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })

  await mount(app, [...handlers, ...adminHandlers(machine)], { domain, limiter: makeLimiter(clock) })
  health(app, clock, machine)
  metrics(app, readers)
  docs(app, domain.instance.version)
  await desktopFiles(app, domain, desktopFolder)
  sandboxFrame(app)
  appFiles(app, domain)
  setupPage(app, domain)
  return app
}

/** One entry a request: what and how it ended, never query values, bodies or credentials. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { action } = request.query as { action?: unknown }
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0],
        // What is undefined is left out of the entry.
        action: typeof action === 'string' ? action.slice(0, 40) : undefined,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.ip,
        user: request.admitted?.caller?.user.id,
      },
      'request',
    )
    done()
  })
}
