import { Unreachable } from '../errors.ts'

const CERTIFICATE = /CERT|UNABLE_TO_VERIFY|SELF_SIGNED/
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'])

/** What is wrong with a certificate: only some of it can be put right on this machine. */
function certificateText(host: string, code: string, error: unknown): string {
  if (code === 'CERT_HAS_EXPIRED')
    return `The certificate of ${host} has expired: check the date of this machine, or have the server's certificate renewed.`
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${host} is not valid yet: check the date of this machine.`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const { subjectaltname = '' } = (error as { cert?: { subjectaltname?: string } }).cert ?? {}
    const names = subjectaltname.replaceAll(/DNS:|IP Address:/g, '').slice(0, 200) || 'another name'
    return `${host} shows a certificate for ${names}: check the address.`
  }
  return code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' || code.startsWith('UNABLE_TO_GET_ISSUER')
    ? `The certificate of ${host} is not trusted (${code}): name the file of your own authority in NODE_EXTRA_CA_CERTS, or have the server send its intermediate certificates.`
    : `The certificate of ${host} is not trusted (${code}): name its file in NODE_EXTRA_CA_CERTS if you trust it, or have it replaced.`
}

/** Converts a network error to a sentence that says what to do; other errors are unchanged. */
export function toUnreachable(error: unknown, { url, timeout }: { url: string; timeout: number }): unknown {
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  const { host, hostname, origin } = new URL(url)
  const because = (sentence: string, outcomeUnknown = false) =>
    new Unreachable(sentence, { cause: error, outcomeUnknown })

  if (code === 'ECONNREFUSED')
    return because(`Nothing answers at ${origin}: check that the server runs, and the address.`)
  if (code === 'ENOTFOUND') return because(`There is no machine named ${hostname}: check the address.`)
  if (code === 'EAI_AGAIN') return because(`The name ${hostname} cannot be looked up right now: check the network.`)
  if (code === 'ETIMEDOUT') {
    const seconds = Math.ceil(timeout / 1_000)
    return because(`${host} did not answer for ${seconds} s: check the network, and try again later.`, true)
  }
  if (['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EHOSTDOWN', 'EADDRNOTAVAIL'].includes(code)) {
    return because(`There is no route to ${host}: check the network and the address.`)
  }
  if (BROKEN.has(code)) return because(`The connection to ${host} broke off: try again.`, true)
  if (CERTIFICATE.test(code)) return because(certificateText(host, code, error))
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return because(
      `${host} does not speak TLS as expected (${code}): check whether the address starts with http:// or https://.`,
    )
  }
  if (code.startsWith('HPE_'))
    return because(`${host} does not answer as an HTTP server should (${code}): check the address.`)
  return error
}
