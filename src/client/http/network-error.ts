import { Unreachable } from '../errors.ts'

const CERTIFICATE = /CERT|UNABLE_TO_VERIFY|SELF_SIGNED/
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'])

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
  if (CERTIFICATE.test(code)) {
    return because(
      `The certificate of ${host} is not trusted (${code}): renew it, or name the file of your own authority in NODE_EXTRA_CA_CERTS.`,
    )
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return because(
      `${host} does not speak TLS as expected (${code}): check whether the address starts with http:// or https://.`,
    )
  }
  if (code.startsWith('HPE_'))
    return because(`${host} does not answer as an HTTP server should (${code}): check the address.`)
  return error
}
