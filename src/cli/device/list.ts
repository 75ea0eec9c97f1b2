import { iso } from '../../base/clock.ts'
import { command } from '../command.ts'
import { moment } from '../moment.ts'

export const list = command({
  name: 'device list',
  summary: 'Devices that are signed in to an account',
  needs: 'domain',
  args: { name: 'user name' },
  flags: {},
  examples: ['svc device list ada', 'svc device list ada --json'],
  async run({ io, domain: { accounts }, args }) {
    const { id, username } = await accounts.byName(args.name)
    const devices = await accounts.devices(id)
    io.table(
      devices,
      [
        { title: 'ID', value: ({ token_id }) => token_id, align: 'right' },
        { title: 'DEVICE', value: ({ device_name }) => device_name },
        { title: 'SIGNED IN', value: ({ created_at }) => moment(created_at) },
        { title: 'LAST USED', value: ({ last_used_at }) => (last_used_at === null ? 'never' : moment(last_used_at)) },
        { title: 'ADDRESS', value: ({ last_ip }) => last_ip ?? '' },
        { title: 'DEVICE ID', value: ({ device_id }) => device_id },
      ],
      `No device is signed in to ${username}.`,
      devices.map(({ expires_at: _, ...device }) => ({
        ...device,
        created_at: iso(device.created_at),
        last_used_at: device.last_used_at === null ? null : iso(device.last_used_at),
      })),
    )
  },
})
