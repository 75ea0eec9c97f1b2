import { isFault } from '../../contract/errors.ts'

/** The way from the top of a seed to a part of it. */
export type Path = readonly (string | number)[]

/** What is wrong with a part of a seed: a clause such as `must be user or admin`. */
export interface Problem {
  path: Path
  message: string
}

/** Everything that is wrong with a seed, at once; nothing was written. */
export class BadSeed extends Error {
  override name = 'BadSeed'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${nameOf(path)}: ${message}`).join('\n'))
    this.problems = problems
  }
}

/** A path as people write it: `users[3].role`. */
export const nameOf = (path: Path): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')

/** What a rule says against a value when it throws a fault: a clause, and the field it is about if it names one. */
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

/** The same about a value that stands alone. */
export const objection = (rule: () => unknown): string | undefined => objectionOf(rule)?.message

/** A sentence as part of a line that names what it is about. */
export const clause = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
