import { expect, test } from 'vitest'
import { followSnapshot } from '../../src/desktop/kit/row-snapshot.ts'

interface Change {
  cursor: number
  name: string
}

/** Names that are followed, with the requests for snapshots to be answered by hand. */
function followNames() {
  const requests: { resolve: (snapshot: { cursor: number; names: string[] }) => void; reject: () => void }[] = []
  let names: string[] = []
  const followed = followSnapshot<{ cursor: number; names: string[] }, Change>({
    request: () => new Promise((resolve, reject) => requests.push({ resolve, reject })),
    onSnapshot: (snapshot) => void (names = snapshot.names),
    onChanges: (changes) => names.push(...changes.map(({ name }) => name)),
  })
  return { followed, requests, names: () => names }
}

test('changes that arrive while a snapshot is loading are applied to it, unless it has them', async () => {
  const { followed, requests, names } = followNames()
  const loaded = followed.load()
  followed.receive([{ cursor: 3, name: 'three' }])
  expect(names()).toEqual(['three'])
  followed.receive([{ cursor: 4, name: 'four' }])
  requests[0]!.resolve({ cursor: 3, names: ['one', 'three'] })
  await loaded
  expect(names()).toEqual(['one', 'three', 'four'])
  followed.receive([
    { cursor: 2, name: 'two' },
    { cursor: 5, name: 'five' },
  ])
  expect(names()).toEqual(['one', 'three', 'four', 'five'])
})

test('after a reset only the snapshot that was requested last counts, and no change from before it', async () => {
  const { followed, requests, names } = followNames()
  const loaded = followed.load()
  followed.receive([{ cursor: 9, name: 'old' }])
  followed.reset()
  followed.receive([{ cursor: 2, name: 'new' }])
  requests[1]!.resolve({ cursor: 1, names: ['restored'] })
  requests[0]!.resolve({ cursor: 9, names: ['outdated'] })
  await loaded
  await expect.poll(names).toEqual(['restored', 'new'])
})
