import { printable } from '../../base/text.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage } from '../exit.ts'

export const revoke = command({
  name: 'device revoke',
  summary: 'Sign out one device of an account, or all of them',
  needs: 'domain',
  args: { name: 'user name', tokenId: { summary: 'ID of the device, from svc device list', optional: true } },
  flags: { all: flag.switch('every device and every minted token'), yes: flag.yes },
  examples: ['svc device revoke ada 3', 'svc device revoke ada --all'],
  async run({ io, domain: { accounts }, args, flags }) {
    if ((args.tokenId === undefined) !== flags.all)
      throw usage('Give the ID of a device, from svc device list, or --all.')
    const { id, username } = await accounts.byName(args.name)
    if (args.tokenId === undefined) {
      const devices = await accounts.devices(id)
      const question = `Sign out ${pluralize(devices.length, 'device')} of ${username}?`
      if (!flags.yes && !(await io.confirm(question))) throw cancelled()
      const ended = await accounts.revokeAllDevices(id)
      io.print(`Signed out ${pluralize(ended, 'device')} of ${username}.`, { username, devices_ended: ended })
      return
    }
    if (!/^\d{1,15}$/.test(args.tokenId))
      throw usage(`"${printable(args.tokenId)}" is not the ID of a device: svc device list shows them.`)
    const tokenId = Number(args.tokenId)
    const device = (await accounts.devices(id)).find(({ token_id }) => token_id === tokenId)
    if (!device) throw new Exit(5, `${username} has no device with the ID ${tokenId}.`, 'not_found')
    await accounts.revokeDevice(id, tokenId)
    io.print(`Signed out ${printable(device.device_name)} of ${username}.`, {
      username,
      token_id: tokenId,
      revoked: true,
    })
  },
})
