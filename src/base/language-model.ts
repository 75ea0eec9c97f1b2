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
  /** Asks a model. Throws `ModelTrouble`, or the reason of the signal. */
  ask(request: ModelRequest): Promise<ModelReply>
  /** What the server itself tells of a model; nothing when it tells nothing. Throws `ModelTrouble`. */
  traits(server: ModelServer, model: string): Promise<ModelTraits>
  /** Names of the models of a server. Throws `ModelTrouble`. */
  names(server: ModelServer): Promise<string[]>
  /** An Ollama on this machine and its models; undefined when there is none. */
  ollama(): Promise<{ url: string; models: string[] } | undefined>
}

/** Why a model gave no answer. The message is for administrators. */
export class ModelTrouble extends Error {
  override name = 'ModelTrouble'
  readonly kind: 'unreachable' | 'refused' | 'missing' | 'limited' | 'busy' | 'broken'
  /** Seconds to wait, where the server named them. */
  readonly retryAfter: number | undefined

  constructor(kind: ModelTrouble['kind'], message: string, retryAfter?: number, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
    this.retryAfter = retryAfter
  }
}
