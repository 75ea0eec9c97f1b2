import { deeperThan } from './nesting.ts'

// The interface to language models, whatever runs them.

export interface ModelServer {
  /** Without a trailing slash. */
  url: string
  /** Empty if none is needed. */
  key: string
}

export interface ModelCall {
  id: string
  name: string
  /** JSON as the model wrote it, possibly invalid. */
  arguments: string
}

export const ARGUMENT_DEPTH = 32

/** The arguments of a call; undefined if they are not a JSON object or nested too deeply. */
export function argumentsOf({ arguments: text }: ModelCall): Record<string, unknown> | undefined {
  let value: unknown
  try {
    value = text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return deeperThan(value, ARGUMENT_DEPTH) ? undefined : (value as Record<string, unknown>)
}

export type ModelMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string; image?: Picture }
  | { role: 'assistant'; text: string; calls: ModelCall[] }
  /** The result of a function call. */
  | { role: 'result'; id: string; name: string; text: string }

export interface Picture {
  /** Such as `image/png`. */
  type: string
  base64: string
}

export interface ModelFunction {
  name: string
  description: string
  /** JSON schema of an object. */
  parameters: object
}

export interface ModelRequest {
  server: ModelServer
  model: string
  messages: readonly ModelMessage[]
  functions: readonly ModelFunction[]
  /** False for an answer without calls, where `functions` only explain earlier calls. */
  mayCall: boolean
  signal: AbortSignal
  /** Receives text as it arrives; reading continues when the promise resolves. */
  onText(text: string): void | Promise<void>
}

export interface ModelReply {
  text: string
  calls: ModelCall[]
  /** Tokens read and written; 0 if the model does not report them. */
  tokens: number
  /** Whether the answer was cut off at the token limit. */
  cut: boolean
}

/** Properties of a model; undefined where unknown. */
export interface ModelTraits {
  /** Whether it calls functions. */
  tools?: boolean | undefined
  /** Whether it understands pictures. */
  vision?: boolean | undefined
  /** Context length in tokens. */
  context?: number | undefined
}

export interface LanguageModels {
  /** Asks a model. Throws `ModelError`, or the reason of the signal. */
  ask(request: ModelRequest): Promise<ModelReply>
  /** Properties that the server itself reports. Throws `ModelError`. */
  traits(server: ModelServer, model: string): Promise<ModelTraits>
  /** Names of the models of a server. Throws `ModelError`. */
  names(server: ModelServer): Promise<string[]>
  /** A local Ollama and its models; undefined if there is none. */
  ollama(): Promise<{ url: string; models: string[] } | undefined>
}

/** Why a model gave no answer. The message is for administrators. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly kind: 'unreachable' | 'refused' | 'missing' | 'limited' | 'busy' | 'broken'
  /** Seconds to wait, if the server named them. */
  readonly retryAfter: number | undefined
  /** The HTTP status, if the server answered with an error. */
  readonly status: number | undefined

  constructor(
    kind: ModelError['kind'],
    message: string,
    { retryAfter, status, ...options }: ErrorOptions & { retryAfter?: number | undefined; status?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.retryAfter = retryAfter
    this.status = status
  }
}
