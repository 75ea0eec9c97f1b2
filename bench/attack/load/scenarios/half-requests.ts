import { options } from '../../../../src/domain/instance/options.ts'
import { numbers } from '../../../samples.ts'
import type { Scenario } from '../scenario.ts'

/** Connections per address. */
const ROOM = options.connections_per_address.standard

const HEADS = [
  'POST /api/login.php HTTP/1.1\r\nhost: 127.0.0.1\r\n',
  'POST /api/login.php HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"user',
  'GET /healthz HTT',
  '',
]

/** More connections than allowed, each with an incomplete request, open until the end. */
export const halfRequests: Scenario = {
  name: 'half-requests',
  async run({ open, over, size }) {
    const count = ROOM + size(3_500, 100)
    const hold = async (number: number) => {
      const one = await open()
      one.socket.once('end', () => one.socket.end())
      one.socket.write(HEADS[number % HEADS.length]!)
      return one
    }
    const all = await Promise.all(numbers(count).map(hold))
    // On a slow machine the refusals arrive after the end.
    await new Promise<void>((resolve) => {
      let ended = 0
      for (const { told } of all) void told.then(() => (ended += 1) >= count - ROOM && resolve())
    })
    await over
    for (const { socket } of all) socket.destroy()
    await Promise.all(all.map(({ told }) => told))
  },
  allowed: /^(400|408|429|no answer)/,
  reached: /^429 rate_limited$/,
}
