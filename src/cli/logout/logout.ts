import { isFault } from '../../contract/errors.ts'
import { command, flag } from '../command.ts'
import { Exit } from '../exit.ts'

export const logout = command({
  name: 'logout',
  summary: 'Revoke the stored device token and delete it',
  needs: 'nothing',
  args: {},
  flags: { force: flag.switch('delete the token even if the server cannot be reached', { short: 'f' }) },
  examples: ['svc logout', 'svc logout --profile work', 'svc logout --force'],
  async run({ io, globals, flags }) {
    const { changeCredentials, findAccount, openApi } = await import('../../client/auth/credentials.ts')
    const { Unreachable } = await import('../../client/errors.ts')
    const { syncAuth } = await import('../../contract/sync-auth.ts')
    const account = await findAccount({ env: globals.env, profile: globals.profile })
    const api = openApi(account)
    let revoked = true
    try {
      await api.call(syncAuth.actions.logout, {}, { repeatable: true })
    } catch (error) {
      // A token that the server does not know is as good as revoked.
      if (error instanceof Unreachable && flags.force) revoked = false
      else if (error instanceof Unreachable) {
        throw new Exit(
          7,
          `${error.message} The token still works there; svc logout --force deletes it on this machine anyway.`,
          'unreachable',
        )
      } else if (!isFault(error, 'unauthorized')) throw error
    } finally {
      api.close()
    }
    if (account.profile !== '') {
      await changeCredentials(globals.env, ({ profiles }) => {
        delete profiles[account.profile]?.token
      })
    }
    if (!revoked) io.warn(`The token still works at ${account.url} until it expires or is revoked there.`)
    const rest = account.profile === '' ? ' SVC_TOKEN no longer works: unset it.' : ''
    io.print(`Signed out of ${account.url}.${rest}`, { url: account.url, profile: account.profile || null, revoked })
  },
})
