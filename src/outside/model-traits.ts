import { ModelError, type LanguageModels, type ModelServer, type ModelTraits } from '../base/language-model.ts'
import { guardedFetch, toModelError, modelErrorOfStatus } from './model-http.ts'

/** How long a server may take to describe itself, ms. */
const PATIENCE = 5_000
/** The same for a server that may not exist, ms. */
const PROBE_TIMEOUT = 500

const OLLAMA = '127.0.0.1:11434'
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/

/**
 * Whether a server uses Anthropic's protocol: its host is anthropic.com or a subdomain, or its path contains
 * `anthropic`. All others use OpenAI's.
 */
export function speaksAnthropic({ url }: ModelServer): boolean {
  const { hostname, pathname } = new URL(url)
  return /(^|\.)anthropic\.com$/.test(hostname) || pathname.split('/').includes('anthropic')
}

/** The base URL of the API: a URL without a path means `/v1`. */
export function baseOf({ url }: ModelServer): string {
  const parsed = new URL(url)
  return parsed.pathname === '/' ? `${parsed.origin}/v1` : url
}

interface Asked {
  method?: 'GET' | 'POST'
  body?: object
  patience?: number
}

async function json(server: ModelServer, url: string, { method = 'GET', body, patience = PATIENCE }: Asked = {}) {
  const key: Record<string, string> = speaksAnthropic(server)
    ? { 'x-api-key': server.key, 'anthropic-version': '2023-06-01' }
    : server.key === ''
      ? {}
      : { authorization: `Bearer ${server.key}` }
  try {
    const response = await guardedFetch(url, {
      method,
      headers: { ...key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patience),
    })
    if (!response.ok) throw modelErrorOfStatus(response.status, server)
    return (await response.json()) as Record<string, unknown>
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      throw new ModelError('unreachable', `${new URL(url).host} does not answer`, { cause: error })
    throw toModelError(error, server)
  }
}

const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

const countOf = (...values: unknown[]): number | undefined =>
  values.find((value): value is number => Number.isSafeInteger(value) && (value as number) >= 1_024)

export function makeModelTraits(ollamaHost = OLLAMA): Omit<LanguageModels, 'ask'> {
  const models = async (server: ModelServer) => listOf((await json(server, `${baseOf(server)}/models`))['data'])

  return {
    async names(server) {
      return (await models(server)).map(({ id }) => String(id))
    },

    async traits(server, model) {
      if (speaksAnthropic(server)) return { tools: true, vision: true, context: 200_000 }
      if (new URL(server.url).hostname === 'api.openai.com') return { tools: true, vision: true, context: 128_000 }
      const shown = await ollamaTraits(server, model)
      return shown ?? listedTraits((await models(server)).find(({ id }) => id === model) ?? {})
    },

    async ollama() {
      const host = ollamaHost.replace(/^http:\/\//, '').replace(/\/+$/, '')
      if (!LOOPBACK.test(host)) return undefined
      const server = { url: `http://${host}`, key: '' }
      try {
        const { models: found } = await json(server, `${server.url}/api/tags`, { patience: PROBE_TIMEOUT })
        return { url: server.url, models: listOf(found).map(({ name }) => String(name)) }
      } catch (error) {
        if (error instanceof ModelError) return undefined
        throw error
      }
    },
  }
}

/** Abilities of a model according to Ollama; undefined for another server. */
async function ollamaTraits(server: ModelServer, model: string): Promise<ModelTraits | undefined> {
  let shown: Record<string, unknown>
  try {
    shown = await json(server, `${new URL(server.url).origin}/api/show`, { method: 'POST', body: { model } })
  } catch (error) {
    // Other servers do not have this URL.
    if (error instanceof ModelError && (error.kind === 'missing' || error.kind === 'broken')) return undefined
    throw error
  }
  // Ollama before 0.6.4 does not report them.
  const abilities = Array.isArray(shown['capabilities']) ? stringsOf(shown['capabilities']) : undefined
  const info = (shown['model_info'] ?? {}) as Record<string, unknown>
  const own = Object.entries(info).find(([name]) => name.endsWith('.context_length'))?.[1]
  const set = Number(/^num_ctx\s+(\d+)$/m.exec(String(shown['parameters'] ?? ''))?.[1])
  return { tools: abilities?.includes('tools'), vision: abilities?.includes('vision'), context: countOf(set, own) }
}

/** Abilities in the model list of vLLM, llama.cpp, OpenRouter and others, which use different fields. */
function listedTraits(model: Record<string, unknown>): ModelTraits {
  const { capabilities, meta, architecture, supported_parameters } = model as Record<string, Record<string, unknown>>
  const inputs = architecture?.['input_modalities']
  return {
    tools: flagOf(
      capabilities?.['function_calling'],
      supported_parameters && stringsOf(supported_parameters).includes('tools'),
    ),
    vision: flagOf(capabilities?.['vision'], inputs && stringsOf(inputs).includes('image')),
    context: countOf(
      model['max_model_len'],
      model['context_length'],
      model['max_context_length'],
      meta?.['n_ctx'],
      meta?.['n_ctx_train'],
    ),
  }
}

const flagOf = (...values: unknown[]): boolean | undefined =>
  values.find((value): value is boolean => typeof value === 'boolean')
