import { iso } from '../../base/clock.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'

export const list = command({
  name: 'device list',
  summary: 'List the devices that are signed in to an account',
  details:
    'Tokens created by svc token mint are listed with the time at which they expire. The settings auth.device_idle_days and ' +
    'auth.device_max_days set when other devices are signed out.',
  needs: 'domain',
  onlyPrints: true,
  args: { name: 'user name' },
  flags: {},
  examples: ['svc device list ada', 'svc device list ada --json'],
  async run({ io, domain: { accounts }, args }) {
    const { id, username } = await accounts.byName(args.name)
    const devices = await accounts.devices(id)
    const timeOr = (time: number | null, otherwise: string) => (time === null ? otherwise : formatTime(time))
    io.table(
      devices,
      [
        { title: 'ID', value: ({ token_id }) => token_id, align: 'right' },
        { title: 'DEVICE', value: ({ device_name }) => device_name },
        { title: 'SIGNED IN', value: ({ created_at }) => formatTime(created_at) },
        { title: 'LAST USED', value: ({ last_used_at }) => timeOr(last_used_at, 'never') },
        { title: 'ENDS', value: ({ expires_at }) => timeOr(expires_at, '') },
        { title: 'ADDRESS', value: ({ last_ip }) => last_ip ?? '' },
        { title: 'DEVICE ID', value: ({ device_id }) => device_id },
      ],
      `No device is signed in to ${username}.`,
      devices.map((device) => ({
        ...device,
        created_at: iso(device.created_at),
        last_used_at: device.last_used_at === null ? null : iso(device.last_used_at),
        expires_at: device.expires_at === null ? null : iso(device.expires_at),
      })),
    )
  },
})
