import { isFault } from '../../contract/errors.ts'

/** Steps from the root of a seed to a part. */
export type Path = readonly (string | number)[]

/** An error in a part of a seed, as a clause such as `must be user or admin`. */
export interface Problem {
  path: Path
  message: string
}

/** All errors of a seed at once; nothing was written. */
export class BadSeed extends Error {
  override name = 'BadSeed'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${nameOf(path)}: ${message}`).join('\n'))
    this.problems = problems
  }
}

/** Formats a path: `users[3].role`. */
export const nameOf = (path: Path): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')

/** The violation of a rule that throws a fault: a clause, and the field if the fault names one. */
export function objectionOf(rule: () => unknown): { field?: string; message: string } | undefined {
  try {
    rule()
    return undefined
  } catch (error) {
    if (!isFault(error)) throw error
    const [detail] = (error.extra.fields?.['details'] ?? []) as { path: string; message: string }[]
    return detail ? { field: detail.path, message: clause(detail.message) } : { message: clause(error.message) }
  }
}

/** The violation for a single value. */
export const objection = (rule: () => unknown): string | undefined => objectionOf(rule)?.message

/** Converts a sentence to a clause. */
export const clause = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
