import { deeperThan } from './depth.ts'

// What is said to a language model and what it says, whatever it runs on.

/** Where models answer. */
export interface ModelServer {
  /** Without a slash at its end. */
  url: string
  /** Empty where none is needed. */
  key: string
}

/** A function that a model wants called. */
export interface ModelCall {
  id: string
  name: string
  /** JSON as the model wrote it, good or bad. */
  arguments: string
}

/** Levels of the deepest arguments that are read. */
export const ARGUMENT_DEPTH = 32

/** The arguments of a call; undefined for what is no JSON object, or nested too deep for those who walk over it. */
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
  /** What a called function gave. */
  | { role: 'result'; id: string; name: string; text: string }

export interface Picture {
  /** Such as `image/png`. */
  type: string
  base64: string
}

/** A function that a model may call. */
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
  /** False for an answer without calls, where `functions` only explain what was called before. */
  mayCall: boolean
  signal: AbortSignal
  /** Is told the text as it comes; the model is read on when the promise resolves. */
  onText(text: string): void | Promise<void>
}

export interface ModelReply {
  text: string
  calls: ModelCall[]
  /** Tokens read and written; 0 when the model does not say. */
  tokens: number
  /** Whether it said more than it may. */
  cut: boolean
}

/** What is known of a model; undefined for what is not. */
export interface ModelTraits {
  /** Whether it calls functions. */
  tools?: boolean | undefined
  /** Whether it understands pictures. */
  vision?: boolean | undefined
  /** Tokens it can read at once. */
  context?: number | undefined
}

/** Models, wherever they run. */
export interface LanguageModels {
  /** Asks a model. Throws `ModelError`, or the reason of the signal. */
  ask(request: ModelRequest): Promise<ModelReply>
  /** What the server itself tells of a model; nothing when it tells nothing. Throws `ModelError`. */
  traits(server: ModelServer, model: string): Promise<ModelTraits>
  /** Names of the models of a server. Throws `ModelError`. */
  names(server: ModelServer): Promise<string[]>
  /** An Ollama on this machine and its models; undefined when there is none. */
  ollama(): Promise<{ url: string; models: string[] } | undefined>
}

/** Why a model gave no answer. The message is for administrators. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly kind: 'unreachable' | 'refused' | 'missing' | 'limited' | 'busy' | 'broken'
  /** Seconds to wait, where the server named them. */
  readonly retryAfter: number | undefined
  /** The HTTP status, where the server answered with one that says no. */
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
