import ipaddr from 'ipaddr.js'

/** Special-purpose ranges of IPv4 (IANA registry, RFC 6890). */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map((range) => ipaddr.IPv4.parseCIDR(range))

/**
 * Global unicast, the only routed part of IPv6. An allowed range rejects the mapped, translated and local forms
 * (`::ffff:a.b.c.d`, `64:ff9b::`, `fc00::`, `fe80::`) without listing them.
 */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Special ranges inside it: Teredo and other protocols, documentation, 6to4. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((range) => ipaddr.IPv6.parseCIDR(range))

/** Whether a text is an IP address of the public internet. */
export function isPublic(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    const parsed = ipaddr.IPv4.parse(address)
    return !PRIVATE_V4.some((range) => parsed.match(range))
  }
  if (!ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.match(GLOBAL_V6) && !SPECIAL_V6.some((range) => parsed.match(range))
}
