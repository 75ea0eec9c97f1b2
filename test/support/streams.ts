import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { stream, type StreamState } from '../../src/domain/backups/streaming.ts'
import { repositoryAt } from '../../src/storage/backups/repository.ts'
import { openStreamTarget, type StreamTarget } from '../../src/storage/backups/stream-target.ts'
import type { PageStream } from '../../src/storage/engine/page-stream.ts'
import { openSqlitePageStream } from '../../src/storage/engine/sqlite-page-stream.ts'
import { openBlobs } from '../../src/wiring/installation/storage.ts'
import type { Place } from './backups.ts'

export interface TestStream {
  folder: string
  /** Waits until a state fulfils the condition. */
  until(isTrue: (state: StreamState) => boolean): Promise<void>
  /** Ends it. */
  stop(): Promise<void>
}

/** Streams an installation to a folder of backups, in this process, through what `change` makes of database and target. */
export async function streamOf(
  place: Place,
  change: { pages?: (pages: PageStream) => PageStream; target?: (target: StreamTarget) => StreamTarget },
  onState: (state: StreamState) => void = () => undefined,
): Promise<TestStream> {
  await place.backUp('repo')
  const folder = join(place.folder, 'repo')
  const blobs = await openBlobs(place.local.directory, '', {})
  const target = await openStreamTarget(folder, (await repositoryAt(folder))!, undefined, blobs)
  const pages = openSqlitePageStream(place.local.directory.database)
  const end = new AbortController()
  let state: StreamState | undefined
  let follow: (() => void) | undefined
  const streaming = stream(
    {
      pages: change.pages?.(pages) ?? pages,
      target: change.target?.(target) ?? target,
      clock: systemClock,
      identity: place.local.domain.instance.identity,
      version: '1',
      installation: () => Promise.resolve([]),
      days: 1,
      onState(next) {
        state = next
        onState(next)
        follow?.()
      },
    },
    end.signal,
  )
  let isOver = false
  const stop = async () => {
    if (isOver) return
    isOver = true
    end.abort()
    await streaming
    pages.close()
    await target.close()
    await blobs.close()
  }
  onTestFinished(stop)
  const failed = streaming.then(() => Promise.reject(new Error('The stream has ended.')))
  failed.catch(() => undefined)
  return {
    folder,
    async until(isTrue) {
      while (!state || !isTrue(state)) await Promise.race([new Promise<void>((resolve) => (follow = resolve)), failed])
    },
    stop,
  }
}
