// Sees to it that SQLite for this Node is installed. better-sqlite3 13 brings its compiled parts along, but npm's lock file does not
// keep that (`gypfile`): npm calls node-gyp all the same and, where there is no Python, removes the package as one that cannot be
// had. It is installed again without scripts then.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import process, { env } from 'node:process'
import { fileURLToPath } from 'node:url'

const NAME = 'better-sqlite3-napi'
const root = fileURLToPath(new URL('..', import.meta.url))
const npm = env.npm_execpath ?? ''

// Older Nodes have version 12, which is compiled on this machine. Other package managers have their own ways.
const isWanted = Number(process.versions.napi) >= 10
if (isWanted && basename(npm) === 'npm-cli.js' && !isInstalled()) install()

function isInstalled() {
  try {
    createRequire(import.meta.url).resolve(NAME)
    return true
  } catch {
    return false
  }
}

function install() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const wanted = `${NAME}@${optionalDependencies[NAME]}`
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync(process.execPath, [npm, 'install', ...flags, wanted], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.stderr.write(`${wanted} could not be installed: svc will not start.\n`)
  process.exitCode = status ?? 1
}
