import { formatSize } from '../../base/sizes.ts'
import { fine, warning, type Check } from './finding.ts'

// What an administrator has set, or has not.

const LOOPBACK = /^(127\.|localhost$|::1$)/

const publicUrl: Check = {
  id: 'public-url',
  summary: 'users reach the service over an encrypted connection',
  async look({ domain }) {
    const { host, public_url: url } = await domain.instance.settings.values()
    if (url.startsWith('https://')) return fine(`reached at ${url}`)
    if (LOOPBACK.test(host)) return fine(`listens on ${host} only`)
    return warning(
      url ? `${url} is not encrypted` : `listens on ${host} without a public URL`,
      'put a proxy with TLS in front and run: svc config set public_url https://…',
    )
  },
}

const proxy: Check = {
  id: 'proxy',
  summary: 'the addresses of clients are known behind a proxy',
  async look({ domain }) {
    const { public_url: url, trusted_proxies: trusted } = await domain.instance.settings.values()
    const unnamed = await domain.instance.unnamedProxy.seen()
    if (unnamed !== undefined)
      return warning(
        `requests come through a proxy at ${unnamed} that is not trusted: all its clients seem to have one address`,
        `svc config set trusted_proxies ${[...trusted, unnamed].join(',')}, and start the server again`,
      )
    if (trusted.length > 0) return fine(`believes the X-Forwarded-For of ${trusted.join(', ')}`)
    if (!url.startsWith('https://')) return fine('no proxy is expected')
    // The service speaks no TLS itself: whoever reaches it by https comes through a proxy.
    return warning(
      'everybody seems to come from the proxy: limits and the log know no other address',
      'svc config set trusted_proxies ADDRESS, with the address from which the proxy connects (127.0.0.1 on this machine)',
    )
  },
}

const rateLimits: Check = {
  id: 'rate-limits',
  summary: 'requests are limited',
  look: async ({ domain }) =>
    (await domain.instance.settings.values())['limits.enabled']
      ? fine('rate limits are on')
      : warning('rate limits are off', 'svc config set limits.enabled on'),
}

/** So many accounts may share a disk without a quota before it is worth a word. */
const FRIENDS = 10

const defaultQuota: Check = {
  id: 'default-quota',
  summary: 'no single account can fill the disk',
  async look({ domain }) {
    const quota = (await domain.instance.settings.values())['quota.default']
    if (quota >= 0) return fine(`${formatSize(quota)} for whoever has no quota of their own`)
    const unlimited = (await domain.accounts.list()).filter(({ quota_bytes }) => quota_bytes === null).length
    if (unlimited <= FRIENDS) return fine('none, which is fine for a few accounts')
    return warning(`${unlimited} accounts have no quota`, 'svc quota default 10GB')
  },
}

const secondFactors: Check = {
  id: 'admin-2fa',
  summary: 'administrators have a second factor',
  async look({ domain }) {
    const users = await domain.accounts.list()
    const admins = users.filter(({ role, disabled_at }) => role === 'admin' && disabled_at === null)
    const without = admins.filter(({ two_factor_since }) => two_factor_since === null).map(({ username }) => username)
    if (admins.length === 0) return fine('there are no administrators')
    if (without.length === 0) return fine('every administrator has one')
    // On this machine alone a password is enough; over a network an administrator is what is worth stealing.
    const { host, public_url: url } = await domain.instance.settings.values()
    const found = `${without.join(', ')} ${without.length === 1 ? 'has' : 'have'} none`
    return LOOPBACK.test(host) && !url
      ? fine(`${found}, and nobody else reaches the service`)
      : warning(found, 'let them set it up in their settings')
  },
}

const weakSettings: Check = {
  id: 'weak-settings',
  summary: 'no setting is only good for trying out',
  async look({ domain }) {
    const values = await domain.instance.settings.values()
    const neverEnd = values['auth.device_idle_days'] === 0 && values['auth.device_max_days'] === 0
    const weak = [
      { is: values.metrics === 'on', found: 'everybody may read /metrics', remedy: 'metrics loopback' },
      { is: values.log_level === 'silent', found: 'nothing is logged', remedy: 'log_level info' },
      { is: neverEnd, found: 'device tokens never end', remedy: 'auth.device_idle_days 90' },
    ].filter(({ is }) => is)
    if (weak.length === 0) return fine('none is weaker than it should be')
    const remedies = weak.map(({ remedy }) => `svc config set ${remedy}`)
    return warning(weak.map(({ found }) => found).join('; '), remedies.join(' && '))
  },
}

export const configurationChecks: readonly Check[] = [
  publicUrl,
  proxy,
  rateLimits,
  defaultQuota,
  secondFactors,
  weakSettings,
]
