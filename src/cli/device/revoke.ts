import { printable } from '../../base/text.ts'
import { command } from '../command.ts'
import { Exit, usage } from '../exit.ts'

export const revoke = command({
  name: 'device revoke',
  summary: 'Sign out one device of an account',
  needs: 'domain',
  args: { name: 'user name', tokenId: 'ID of the device, from svc device list' },
  flags: {},
  examples: ['svc device revoke ada 3'],
  async run({ io, domain: { accounts }, args }) {
    if (!/^\d{1,15}$/.test(args.tokenId))
      throw usage(`"${args.tokenId}" is no ID of a device: svc device list shows them.`)
    const tokenId = Number(args.tokenId)
    const { id, username } = await accounts.byName(args.name)
    const device = (await accounts.devices(id)).find(({ token_id }) => token_id === tokenId)
    if (!device) throw new Exit(5, `${username} has no device with the ID ${tokenId}.`, 'not_found')
    await accounts.revokeDevice(id, tokenId)
    io.say(`Signed out ${printable(device.device_name)} of ${username}.`, {
      username,
      token_id: tokenId,
      revoked: true,
    })
  },
})
