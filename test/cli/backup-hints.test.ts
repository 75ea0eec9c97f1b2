import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCommandWith } from '../support/command.ts'
import { explores } from '../support/explores.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { folderOfTest } from '../support/server.ts'
import { runShell } from '../support/shell.ts'

// The commands that the output names, pasted into a shell as they are printed: with names that a shell would take apart.

const s3 = s3OfFile()
const precious = bytesOf(120_000)
const hash = sha256Of(precious)

interface Place {
  place: string
  write(name: string, content: string): Promise<void>
  manifests(): Promise<string[]>
}

async function folderPlace(folder: string): Promise<Place> {
  const place = join(folder, "Sicherung & Co; d'Ämter $HOME")
  await mkdir(place)
  return {
    place,
    write: (name, content) => writeFile(join(place, name), content),
    manifests: async () => (await readdir(join(place, 'snapshots'))).map((name) => `snapshots/${name}`),
  }
}

async function bucketPlace(): Promise<Place> {
  const bucket = await s3.bucket()
  const prefix = 'cloud'
  return {
    // Unquoted, a shell would run this in the background and take the rest as a variable.
    place: `${bucket.address({ prefix })}&region=us-east-1`,
    write: (name, content) => bucket.write(`${prefix}/${name}`, content),
    manifests: async () =>
      (await bucket.objects())
        .filter((name) => name.startsWith(`${prefix}/snapshots/`))
        .map((name) => name.slice(prefix.length + 1)),
  }
}

async function scene(makePlace: (folder: string) => Promise<Place>) {
  const folder = await folderOfTest()
  const dataDir = join(folder, 'Daten & Söhne')
  const place = await makePlace(folder)
  const env = { HOME: folder, ...s3Environment }
  const svc = (...args: string[]) => runCommandWith(env, ...args, '--data-dir', dataDir)
  const restore = (target: string) =>
    runCommandWith(env, 'backup', 'restore', 'latest', '--from', place.place, '--data-dir', join(folder, target))
  /** Runs a line in `sh` as somebody would who copied it. */
  const paste = (line: string) =>
    runShell('sh -c "$PASTED"', { home: folder, cwd: folder, env: { ...env, PASTED: line } })
  /** The command that the output offers after these words. */
  const offered = ({ stdout, stderr }: { stdout: string; stderr: string }, words: string): string => {
    const line = `${stdout}\n${stderr}`.split('\n').find((text) => text.includes(`${words}: svc `))
    if (line === undefined) throw new Error(`Nothing is offered "${words}" in:\n${stdout}\n${stderr}`)
    return line.slice(line.indexOf(`${words}: svc `) + words.length + 2)
  }
  await writeFile(join(folder, 'precious.bin'), precious)
  const users = [
    { username: 'ada', password: 'analytical engine', files: [{ path: '/precious.bin', from: 'precious.bin' }] },
  ]
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ version: 1, users }))
  const seeded = await svc('seed', join(folder, 'seed.json'))
  if (seeded.code !== 0) throw new Error(seeded.stderr)
  return { folder, ...place, svc, restore, paste, offered }
}

type Scene = Awaited<ReturnType<typeof scene>>

async function followDamagedObject({ folder, place, svc, restore, paste, offered, write }: Scene): Promise<void> {
  const damage = () => write(`objects/${hash.slice(0, 2)}/${hash}`, 'damaged')
  await damage()
  const verified = await svc('backup', 'verify', '--from', place)
  expect(verified.code).toBe(1)
  const partial = await paste(offered(verified, 'To restore what can be read'))
  expect(partial).toMatchObject({ code: 3, stdout: expect.stringContaining('ada: /precious.bin') as string })
  expect(await paste(offered(partial, 'To list the backups'))).toMatchObject({ code: 0, stderr: '' })
  await rm(join(folder, 'svc-restored'), { recursive: true })
  const stopped = await restore('n & w')
  expect(stopped.code).toBe(1)
  expect(await paste(offered(stopped, 'To restore everything that can be read'))).toMatchObject({ code: 3 })
  const repaired = await paste(offered(verified, 'To store damaged objects again that the service still has'))
  expect(repaired.code).toBe(3)
  expect(await paste(offered(repaired, 'To look for more damage'))).toMatchObject({ code: 0 })
}

async function followDamagedManifest({ place, svc, restore, paste, offered, write, manifests }: Scene): Promise<void> {
  await write((await manifests()).sort().at(-1)!, '{')
  const listed = await svc('backup', 'list', '--from', place)
  expect(listed.code).toBe(3)
  const checked = await paste(offered(listed, 'To check the others'))
  expect(checked.code).toBe(1)
  const pruned = await svc('backup', 'prune', '--from', place)
  expect(pruned.code).toBe(3)
  const stopped = await restore('n & x')
  expect(await paste(offered(stopped, 'To see which'))).toMatchObject({ code: 1 })
  const drop = offered(listed, 'To remove the backup')
  expect([offered(checked, 'To remove the backup'), offered(pruned, 'To remove the backup')]).toEqual([drop, drop])
  expect(await paste(drop)).toMatchObject({ code: 2, stderr: expect.stringContaining('give --yes') as string })
  expect(await paste(`${drop} --yes`)).toMatchObject({ code: 0 })
  expect(await svc('backup', 'list', '--from', place)).toMatchObject({ code: 0, stderr: '' })
}

async function followRewind({ folder, place, svc, paste, offered }: Scene): Promise<void> {
  expect((await svc('backup', 'create', '--to', place)).code).toBe(0)
  const { stdout } = await svc('backup', 'list', '--from', place, '--json')
  const { id } = (JSON.parse(stdout) as { id: string }[]).at(-1)!
  const files = [{ path: '/later.bin', from: 'precious.bin' }]
  await writeFile(join(folder, 'later.json'), JSON.stringify({ version: 1, users: [{ username: 'ada', files }] }))
  expect(await svc('seed', join(folder, 'later.json'))).toMatchObject({ code: 0 })
  const shown = await svc('rewind', '--user', 'ada', '--to', id, '--from', place)
  const applied = await paste(offered(shown, 'Next'))
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining('Returned to the state') as string })
  expect(await paste(offered(applied, 'To undo it'))).toMatchObject({ code: 0 })
  const none = await svc('rewind', '--user', 'ada', '--to', 'stream', '--from', place)
  expect(none.code).toBe(5)
  // It would run until it is ended: only what the shell makes of it counts here.
  const words = await paste(`svc() { printf '%s\\n' "$@"; }; ${offered(none, 'To begin one')}`)
  expect(words.stdout.trim().split('\n')).toEqual(['backup', 'stream', '--to', place])
  const unknown = await svc('backup', 'show', '19990101', '--from', place)
  expect(await paste(offered(unknown, 'To list them'))).toMatchObject({ code: 0 })
}

const places: [string, (folder: string) => Promise<Place>][] = [['a folder', folderPlace]]
if (explores) places.push(['a bucket', bucketPlace])

describe.each(places)('with backups in %s', (_, makePlace) => {
  test('each command that the output offers runs as it is printed', async () => {
    const all = await scene(makePlace)
    const { place, svc, paste, offered } = all
    if (place.startsWith('s3:')) expect((await svc('backup', 'create', '--to', place)).code).toBe(0)
    else {
      const empty = await svc('backup', 'list', '--from', place)
      expect(await paste(offered(empty, 'To make one'))).toMatchObject({ code: 0 })
    }
    await followDamagedObject(all)
    await followDamagedManifest(all)
    await followRewind(all)
  }, 120_000)
})
