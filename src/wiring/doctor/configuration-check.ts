import { formatSize } from '../../base/sizes.ts'
import { findingText } from '../../contract/finding-texts.ts'
import { fine, warning, type Check } from './finding.ts'

const LOOPBACK = /^(127\.|localhost$|::1$)/

const publicUrl: Check = {
  id: 'public-url',
  summary: 'users reach the service over an encrypted connection',
  async runChecks({ domain }) {
    const { host, public_url: url } = await domain.instance.settings.values()
    if (url.startsWith('https://')) return fine(findingText('url_encrypted', { url }))
    if (LOOPBACK.test(host)) return fine(findingText('url_loopback', { host }))
    return warning(
      url ? findingText('url_not_encrypted', { url }) : findingText('url_missing', { host }),
      findingText('remedy_public_url'),
    )
  },
}

const proxy: Check = {
  id: 'proxy',
  summary: 'the addresses of clients are known behind a proxy',
  async runChecks({ domain }) {
    const { public_url: url, trusted_proxies: trusted } = await domain.instance.settings.values()
    const unnamed = await domain.instance.untrustedProxy.seen()
    if (unnamed !== undefined)
      return warning(
        findingText('proxy_untrusted', { address: unnamed }),
        findingText('remedy_proxy_untrusted', { addresses: [...trusted, unnamed].join(',') }),
      )
    if (trusted.length > 0) return fine(findingText('proxy_trusted', { addresses: trusted.join(', ') }))
    if (!url.startsWith('https://')) return fine(findingText('proxy_none'))
    // The service has no TLS of its own: an https address means a proxy.
    return warning(findingText('proxy_unnamed'), findingText('remedy_proxy_unnamed'))
  },
}

const rateLimits: Check = {
  id: 'rate-limits',
  summary: 'requests are limited',
  runChecks: async ({ domain }) =>
    (await domain.instance.settings.values())['limits.enabled']
      ? fine(findingText('limits_on'))
      : warning(findingText('limits_off'), 'svc config set limits.enabled on'),
}

/** The number of accounts from which missing quotas are a warning. */
const MANY_ACCOUNTS = 10

const defaultQuota: Check = {
  id: 'default-quota',
  summary: 'no single account can fill the disk',
  async runChecks({ domain }) {
    const quota = (await domain.instance.settings.values())['quota.default']
    if (quota >= 0) return fine(findingText('quota_set', { size: formatSize(quota) }))
    const unlimited = (await domain.accounts.list()).filter(({ quota_bytes }) => quota_bytes === null).length
    if (unlimited <= MANY_ACCOUNTS) return fine(findingText('quota_few'))
    return warning(findingText('quota_missing', { count: unlimited }), 'svc quota default 10GB')
  },
}

const secondFactors: Check = {
  id: 'admin-2fa',
  summary: 'administrators have a second factor',
  async runChecks({ domain }) {
    const users = await domain.accounts.list()
    const admins = users.filter(({ role, disabled_at }) => role === 'admin' && disabled_at === null)
    const without = admins.filter(({ two_factor_since }) => two_factor_since === null).map(({ username }) => username)
    if (admins.length === 0) return fine(findingText('admins_none'))
    if (without.length === 0) return fine(findingText('admins_protected'))
    // On this machine alone a password is enough; over a network, administrators are a target.
    const { host, public_url: url } = await domain.instance.settings.values()
    const found = findingText(without.length === 1 ? 'admin_unprotected' : 'admins_unprotected', {
      names: without.join(', '),
    })
    return LOOPBACK.test(host) && !url
      ? fine(findingText('admins_local', { found }))
      : warning(found, findingText('remedy_admins'))
  },
}

const weakSettings: Check = {
  id: 'weak-settings',
  summary: 'no setting is suitable only for testing',
  async runChecks({ domain }) {
    const values = await domain.instance.settings.values()
    const neverEnd = values['auth.device_idle_days'] === 0 && values['auth.device_max_days'] === 0
    const weak = [
      { is: values.metrics === 'on', found: findingText('settings_metrics'), remedy: 'metrics loopback' },
      { is: values.log_level === 'silent', found: findingText('settings_log'), remedy: 'log_level info' },
      { is: neverEnd, found: findingText('settings_tokens'), remedy: 'auth.device_idle_days 90' },
    ].filter(({ is }) => is)
    if (weak.length === 0) return fine(findingText('settings_sound'))
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
