/** The sync engine stops to prevent data loss; the message says what happened and what to do. */
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
