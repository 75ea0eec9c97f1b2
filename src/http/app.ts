import Fastify, { LogController, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { fault } from '../contract/errors.ts'
import type { Domain } from '../domain/domain.ts'
import { adminHandlers } from './admin/admin.ts'
import { accountSettingsHandlers } from './account-settings/account-settings.ts'
import { actionConstraint } from './action-constraint.ts'
import { sendError } from './responses.ts'
import { appsHandlers } from './apps/apps.ts'
import { assistantHandlers } from './assistant/assistant.ts'
import { desktopComponentsHandlers } from './desktop-components/desktop-components.ts'
import { limitConnections } from './connections.ts'
import { abortSlowBodies } from './slow-bodies.ts'
import { failureBody } from './failure-body.ts'
import { filesystemHandlers } from './filesystem/filesystem.ts'
import { rejectAmbiguousFraming } from './framing.ts'
import { rejectForeignHosts } from './allowed-hosts.ts'
import { acceptJson } from './json-body.ts'
import { deferContinue } from './expect-continue.ts'
import { drainBody } from './unread-body.ts'
import { CoalescedMessage } from './coalesced-message.ts'
import { makeDiskReserve } from './disk-reserve.ts'
import type { HostStatus } from './host-status.ts'
import { mount } from './mount.ts'
import { serializePipelines } from './pipelining.ts'
import { warnOfUntrustedProxies } from './proxies.ts'
import { securityHeaders } from './security-headers.ts'
import { appFiles } from './service/app-files.ts'
import { docs } from './service/api-docs.ts'
import { freshReadiness, health } from './service/health.ts'
import { metrics, readyMeasurement } from './service/metrics.ts'
import { rowsHandlers } from './rows/rows.ts'
import { desktopFiles } from './service/desktop-files.ts'
import { appFrame } from './service/app-frame.ts'
import { sharedLimiter } from './shared-limiter.ts'
import { sandboxFrame } from './service/sandbox-frame.ts'
import { searchHandlers } from './search/search.ts'
import { sessionLogin2faHandlers } from './session-login2fa/session-login2fa.ts'
import { sessionLoginHandlers } from './session-login/session-login.ts'
import { sessionLogoutHandlers } from './session-logout/session-logout.ts'
import { sessionHandlers } from './session/session.ts'
import { setupPage } from './setup/setup-page.ts'
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
  /** Options of the Fastify logger, or false for no log. */
  logger: FastifyServerOptions['logger']
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[]
  metrics: string
  /** Folder of the built desktop; if it is missing, no desktop is served. */
  desktopFolder: string
  /** Source of /readyz and of the host information shown to administrators. */
  machine: HostStatus
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
  ...searchHandlers,
  ...assistantHandlers,
  ...desktopComponentsHandlers,
  ...appsHandlers,
]

/** Responses when Node rejects a request, by error code. */
const clientErrors: Record<string, readonly [status: string, text: string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request is not valid HTTP.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request came too slowly.'],
}

const TOO_MANY_CONNECTIONS =
  'connections of this address are refused: it has as many as connections_per_address allows (a proxy belongs in trusted_proxies)'

/** Builds the whole server: every route is registered here. */
export async function makeApp({
  domain,
  clock,
  logger,
  trustedProxies,
  metrics: readers,
  desktopFolder,
  machine,
}: AppOptions): Promise<FastifyInstance> {
  const settings = await domain.instance.settings.values()
  const headers = securityHeaders(settings.public_url)
  const requestTimeout = settings.request_timeout * 1_000
  const app = Fastify({
    logger: logger ?? false,
    // `logRequests` writes one line per request when it has been answered.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    routerOptions: { constraints: { action: actionConstraint as never }, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    http: { IncomingMessage: CoalescedMessage, connectionsCheckingInterval: Math.min(5_000, requestTimeout) },
    // Ends idle connections. Requests may take any time while bytes move, such as large uploads on slow lines.
    connectionTimeout: 120_000,
    keepAliveTimeout: 65_000,
    requestTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A URL that cannot be decoded reaches neither routes nor hooks.
    frameworkErrors(_error, request, reply) {
      sendError(fault('bad_request', { text: 'The address is not valid.' }), request, reply.headers(headers))
    },
    clientErrorHandler(error, socket) {
      // Anything written after a response head would be parsed as its body.
      const isAnswered = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true
      if (!socket.writable || isAnswered) return socket.destroy()
      const [status, text] = clientErrors[error.code ?? ''] ?? ['400 Bad Request', 'The request is not valid HTTP.']
      const body = JSON.stringify(failureBody(fault('bad_request', { text })))
      const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`
      socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`)
      socket.destroySoon()
    },
  })
  deferContinue(app.server, app.routing)
  serializePipelines(app.server)
  app.server.headersTimeout = Math.min(15_000, requestTimeout)
  app.server.maxConnections = 8_192
  app.addHook('onClose', abortSlowBodies(app.server, requestTimeout))
  limitConnections(app.server, {
    max: settings.connections_per_address,
    exempt: trustedProxies,
    onRefused: (ip) => app.log.warn({ ip }, TOO_MANY_CONNECTIONS),
  })

  acceptJson(app)
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => sendError(fault('not_found'), request, reply))
  logRequests(app)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  rejectAmbiguousFraming(app)
  rejectForeignHosts(app, settings)
  await domain.instance.untrustedProxy.forget()
  warnOfUntrustedProxies(app, domain.instance.untrustedProxy.note)

  await mount(app, [...handlers, ...adminHandlers(machine)], {
    domain,
    limiter: sharedLimiter(clock, domain.instance.peers),
    reserve: makeDiskReserve(() => machine.disk()),
  })
  const readiness = freshReadiness(clock, machine)
  health(app, readiness)
  metrics(app, readers, [readyMeasurement(readiness), ...machine.measurements])
  docs(app, { domain, publicUrl: settings.public_url, isPublic: settings['api.public_docs'] })
  await desktopFiles(app, desktopFolder)
  sandboxFrame(app)
  appFrame(app, domain)
  appFiles(app, domain)
  setupPage(app, domain)
  return app
}

/** Logs one entry per request: method, path, result and caller, never query values, bodies or credentials. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    drainBody(request.raw)
    const { action: inQuery } = request.query as { action?: unknown }
    const action = request.routeOptions.config.action ?? inQuery
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0],
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
