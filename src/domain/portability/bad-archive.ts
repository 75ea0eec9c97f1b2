/** The file is not an account archive, or a damaged one; nothing was changed. */
export class BadArchive extends Error {
  override name = 'BadArchive'
  readonly exitCode = 2
  readonly reason = 'bad_archive'

  constructor(what: string, options?: ErrorOptions) {
    super(`This is no sound archive of an account: ${what}. Nothing was changed.`, options)
  }
}
