/** The engine stops before it does harm; the sentence says what it saw and what to do. Nothing was changed. */
export class Refused extends Error {
  override name = 'Refused'
  readonly exitCode = 8
  readonly reason: string

  constructor(
    reason: 'not_ours' | 'nested' | 'gone' | 'other_account' | 'mass_delete' | 'copied' | 'rules',
    message: string,
  ) {
    super(message)
    this.reason = reason
  }
}

/** Another run works on the same folder. */
export class Held extends Error {
  override name = 'Held'
  readonly exitCode = 6
}

/** There is no synchronised folder where one was looked for; with code 2 there are several, and one must be named. */
export class NoRoot extends Error {
  override name = 'NoRoot'
  readonly exitCode: 2 | 5

  constructor(message: string, exitCode: 2 | 5 = 5) {
    super(message)
    this.exitCode = exitCode
  }
}
