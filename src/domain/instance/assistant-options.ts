export interface DeclaredModel {
  id: string
  /** Whether it supports function calling. */
  tools?: boolean
  /** Whether it accepts images. */
  vision?: boolean
  /** Context window, tokens. */
  context?: number
}

// Names that only local networks resolve, and private addresses (RFC 1918, 6598, 4193, 4291).
const OWN_NAME = /^[a-z0-9-]+$|\.(localhost|local|internal|lan|home\.arpa)$/i
const OWN_ADDRESS =
  /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[(::1|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\]$)/i
const isOwn = (host: string): boolean => OWN_NAME.test(host) || OWN_ADDRESS.test(host)

/** URL of a model server: https anywhere, http only within the local network. Stored without a trailing slash. */
export const modelServer = {
  name: 'URL',
  parse(text: string): string {
    if (text === '') return ''
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
      throw new Error('must be a URL such as https://api.openai.com/v1 or http://127.0.0.1:11434')
    if (url.protocol === 'http:' && !isOwn(url.hostname))
      throw new Error('must begin with https, so that others cannot read the questions; http is for your own network')
    return url.href.replace(/\/+$/, '')
  },
  show: String,
}

/** API key of a model server. Error messages never contain it. */
export const apiKey = {
  name: 'KEY',
  parse(text: string): string {
    if (text !== '' && !/^[\x21-\x7e]{1,4096}$/.test(text))
      throw new Error('must be a key: up to 4096 characters without spaces')
    return text
  },
  show: String,
}

const FORM = 'must be a list such as [{"id":"qwen3:8b","tools":true,"vision":false,"context":32768}]'
const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean'

function isDeclared(one: unknown): one is DeclaredModel {
  if (typeof one !== 'object' || one === null) return false
  const { id, tools, vision, context, ...others } = one as Record<string, unknown>
  const fits = context === undefined || (Number.isSafeInteger(context) && (context as number) >= 1_024)
  const named = typeof id === 'string' && /^[\w./:@+-]{1,200}$/.test(id)
  return named && isFlag(tools) && isFlag(vision) && fits && Object.keys(others).length === 0
}

export const declaredModels = {
  name: 'JSON',
  parse(text: string): DeclaredModel[] {
    let found: unknown
    try {
      found = text.trim() === '' ? [] : JSON.parse(text)
    } catch {
      throw new Error(FORM)
    }
    if (!Array.isArray(found) || found.length > 100 || !found.every(isDeclared)) throw new Error(FORM)
    return found
  },
  show: (models: DeclaredModel[]): string => (models.length === 0 ? '' : JSON.stringify(models)),
}
