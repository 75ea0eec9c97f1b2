import { connect } from 'node:tls'
import { DAY } from '../../base/clock.ts'
import { errorCode } from '../../base/errors.ts'
import { pluralize } from '../../base/counts.ts'
import { DATABASE_REMEDY } from '../installation/database-damage.ts'
import { failure, fine, warning, type Check } from './finding.ts'

// Checks for `svc doctor` only: they would hold up a server, or a server cannot make them of itself.

const pages: Check = {
  id: 'database-pages',
  summary: 'no page of the database is damaged',
  async runChecks({ domain }) {
    const [damage] = await domain.instance.damage()
    if (damage === undefined) return fine('all can be read')
    return failure(damage.text, damage.reference ? 'svc storage check' : DATABASE_REMEDY)
  },
}

/** Contents to look for: enough to find a lost disk or folder. */
const SAMPLE = 200

const contents: Check = {
  id: 'contents',
  summary: 'the contents of files are in their place',
  async runChecks({ domain }) {
    const { looked, missing } = await domain.instance.lookForContents(SAMPLE)
    const found = `${missing} of ${pluralize(looked, 'content')} that were looked for ${missing === 1 ? 'is' : 'are'} missing or cut off`
    if (missing === 0) return fine(`${pluralize(looked, 'content')} looked for`)
    return failure(
      found,
      'svc storage check --quick names the files; then restore them from a backup (svc backup extract)',
    )
  },
}

/** Certificates are renewed earlier than this before their end. */
const RENEWED = 14 * DAY
const PATIENCE_MS = 5_000

/** The end of the certificate of an address, and why it is not trusted. */
const certificateOf = (url: URL): Promise<{ ends: number; problem: string | undefined }> =>
  new Promise((resolve, reject) => {
    const [host, port] = [url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || 443)]
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      const { authorizationError: error } = socket
      resolve({ ends: Date.parse(socket.getPeerCertificate().valid_to), problem: error && String(error) })
      socket.destroy()
    })
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('no answer')))
    socket.on('error', reject)
  })

const certificate: Check = {
  id: 'certificate',
  summary: 'the certificate of the public URL is valid',
  async runChecks({ domain }) {
    const { public_url: url } = await domain.instance.settings.values()
    if (!url.startsWith('https://')) return fine('no public URL with TLS')
    try {
      const { ends, problem } = await certificateOf(new URL(url))
      const day = new Date(ends).toISOString().slice(0, 10)
      const renew = `renew the certificate of ${url} in the proxy that serves it, and reload the proxy`
      if (ends < Date.now()) return failure(`expired on ${day}`, renew)
      if (problem !== undefined) return failure(`not trusted by this machine: ${problem}`, renew)
      return ends - Date.now() < RENEWED ? warning(`expires on ${day}`, renew) : fine(`valid until ${day}`)
    } catch (error) {
      // Many machines cannot reach their own public address.
      return fine(`not checked: ${url} cannot be reached from here (${errorCode(error) || (error as Error).message})`)
    }
  },
}

export const thoroughChecks: readonly Check[] = [pages, contents, certificate]
