import type { JobContext } from '../domain/backups/backups.ts'
import { environment } from '../wiring/config/environment.ts'

const INTERVAL = 500

/** Set by a server that starts this command and reads its progress. Messages on the channels of other parents are their own. */
const isJob = environment['SVC_PROGRESS'] === 'ipc'
delete environment['SVC_PROGRESS']

let isListening = false

/** Progress for the server that started this command; undefined without one. The command ends with that server. */
export function parentProgress(): JobContext['progress'] {
  if (!isJob) return undefined
  const end = (): void => void process.kill(process.pid, 'SIGTERM')
  if (!isListening) process.once('disconnect', end)
  isListening = true
  // The listener keeps the process alive otherwise.
  process.channel?.unref()
  if (!process.connected) end()
  let [done, total, sent] = [0, 0, 0]
  const send = (): void => {
    if (process.connected) process.send?.({ done, total }, () => undefined)
    sent = performance.now()
  }
  return {
    total(bytes) {
      total = bytes
      send()
    },
    add(bytes) {
      done += bytes
      if (performance.now() - sent >= INTERVAL) send()
    },
  }
}
