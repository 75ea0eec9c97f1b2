import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeRandom } from '../../support/random.ts'
import { readTree, write } from '../sync/bench.ts'
import { setStage } from './stage.ts'

// The command as it is built and a server in a process of its own, both killed outright at requests that a seed decides.

test(
  'client and server are killed again and again: nothing is lost, and in the end all hold the same',
  { timeout: 300_000 },
  async () => {
    const random = makeRandom(7)
    const { place, roots, proxy, run, ok, killServer, revive } = await setStage(random, ['one', 'other'])

    const contents = new Set<string>()
    const put = (root: string, path: string, content: string): void => {
      contents.add(content)
      write(root, path, content)
    }
    for (let round = 0; round < 6; round += 1) {
      for (const [side, root] of roots.entries()) {
        for (let at = 0; at < 40; at += 1)
          put(root, `r${round}/s${side}/${at % 4}/${at}.txt`, `${round} ${side} ${at} `.repeat(20))
        put(root, `both-${round}.txt`, `of side ${side} in round ${round}`)
      }
      for (const root of roots) {
        const client = run(['sync', root, '--force-delete'])
        let left = random.below(7)
        const victim = random.of(['client', 'server', 'neither'] as const)
        proxy.next = () => {
          left -= 1
          if (left !== 0 || victim === 'neither') return undefined
          if (victim === 'client') client.kill()
          else killServer()
          return 'slow'
        }
        await client.code
        proxy.next = () => undefined
        await revive()
      }
    }
    for (let round = 0; round < 3; round += 1) for (const root of roots) await ok(['sync', root, '--force-delete'])

    const [one, other] = roots.map(readTree)
    expect(other).toEqual(one)
    expect(new Set(Object.values(one!).filter((content) => content !== null))).toEqual(contents)
    const third = join(place, 'third')
    await ok(['sync', 'init', third])
    await ok(['sync', third])
    expect(readTree(third)).toEqual(one)
    rmSync(third, { recursive: true })
  },
)

/** What a run does that is then taken back: edits, deletions and a rename. */
function change(root: string, round: number): void {
  for (let at = 0; at < 6; at += 1) write(root, `edited/${at}.txt`, `edited in round ${round}, ${at}`)
  for (let at = 0; at < 4; at += 1) rmSync(join(root, `gone/${at}.txt`))
  renameSync(join(root, 'old'), join(root, `new ${round}`))
}

test(
  'an undo that is killed is brought to its end by the next run, wherever it was',
  { timeout: 300_000 },
  async () => {
    const { roots, proxy, run, ok } = await setStage(makeRandom(11), ['one', 'other'])
    const [one, other] = roots as [string, string]
    for (const [folder, count] of [
      ['edited', 6],
      ['gone', 4],
      ['old', 3],
    ] as const)
      for (let at = 0; at < count; at += 1) write(one, `${folder}/${at}.txt`, `first words of ${folder} ${at}`)
    for (const root of [one, other]) await ok(['sync', root])
    const before = readTree(one)

    const isAsBefore = (): boolean => JSON.stringify(readTree(one)) === JSON.stringify(before)
    let [kills, finished] = [0, 0]
    for (let round = 1; kills === round - 1; round += 1) {
      change(one, round)
      await ok(['sync', one, '--force-delete'])
      const undo = run(['sync', 'undo', one, '--yes'])
      let left = round
      proxy.next = () => {
        left -= 1
        if (left !== 0) return undefined
        kills += 1
        undo.kill()
        return 'slow'
      }
      const code = await undo.code
      proxy.next = () => undefined
      expect(code, undo.text()).toBe(kills === round ? null : 0)
      await ok(['sync', one])
      if (isAsBefore()) finished += 1
      // Killed before it had written down what it is about to do, it did nothing.
      else await ok(['sync', 'undo', one, '--yes'])
      expect(readTree(one)).toEqual(before)
      await ok(['sync', other])
      expect(readTree(other)).toEqual(before)
    }
    // The last one came to its end by itself.
    expect(finished - 1).toBeGreaterThan(2)
  },
)
