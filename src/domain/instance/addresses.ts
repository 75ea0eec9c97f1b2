import ipaddr from 'ipaddr.js'

const isIpv4 = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text)
const isIpv6 = (text: string): boolean => text.includes(':') && ipaddr.IPv6.isValid(text)

/** Whether a text is an IP address or a CIDR range. With `/0` any client could forge its address: refused. */
export function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  if (more.length > 0 || !(isIpv4(address) || isIpv6(address))) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= (isIpv4(address) ? 32 : 128)
}

/** An IP address or a host name (RFC 1123), which never consists of digits and dots only. */
export function isListenHost(text: string): boolean {
  if (isIpv4(text) || isIpv6(text)) return true
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) && !/^[\d.]+$/.test(text) && !text.includes('..')
}
