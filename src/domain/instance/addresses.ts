import ipaddr from 'ipaddr.js'

const isIpv4 = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text)
const isIpv6 = (text: string): boolean => text.includes(':') && ipaddr.IPv6.isValid(text)

/**
 * Whether a text is an IP address or a range in CIDR notation. Numbers of hops, wildcards and `/0` are refused: every client
 * could then name any address as its own.
 */
export function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  if (more.length > 0 || !(isIpv4(address) || isIpv6(address))) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= (isIpv4(address) ? 32 : 128)
}

/** Whether a server can listen there: an IP address, or a host name (RFC 1123), which is never only digits and dots. */
export function isListenHost(text: string): boolean {
  if (isIpv4(text) || isIpv6(text)) return true
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) && !/^[\d.]+$/.test(text) && !text.includes('..')
}
