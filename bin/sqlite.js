// Makes sure that SQLite for this Node is installed and loads; npm reports neither a missing nor a broken optional package.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import process, { env, versions } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const isPrebuilt = Number(versions.napi) >= 10
const NAME = isPrebuilt ? 'better-sqlite3-napi' : 'better-sqlite3'

const reason = () => {
  try {
    new (createRequire(import.meta.url)(NAME))(':memory:').close()
    return undefined
  } catch (error) {
    return error.message.split('\n')[0]
  }
}

// Other package managers have their own ways.
if (reason() && basename(env.npm_execpath ?? '') === 'npm-cli.js') {
  if (isPrebuilt) reinstall()
  else build()
}

const missing = reason()
if (missing) {
  const advice = isPrebuilt
    ? 'Run "npm install" again; it needs no compiler.'
    : 'Use Node 22.14 or later, or install a C++ compiler and Python (Debian: apt-get install make g++ python3) and, without access to nodejs.org, the headers of Node, and run "npm install" again.'
  process.stderr.write(`SQLite could not be installed for Node ${versions.node}: ${missing}\n${advice}\n`)
  process.exitCode = 1
}

/** npm runs node-gyp for version 13, which needs none, and removes the package where Python is missing. */
function reinstall() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  npm('install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', `${NAME}@${optionalDependencies[NAME]}`)
}

/**
 * Downloads version 12 or compiles it. package.json denies npm the package's own script, which compiles on one core and
 * optimises for two minutes.
 */
function build() {
  npm('rebuild', '--dangerously-allow-all-scripts', NAME)
}

/** The setting that names the headers installed with this Node; node-gyp downloads those that are not. */
function headers() {
  const prefix = dirname(dirname(process.execPath))
  try {
    const text = readFileSync(join(prefix, 'include', 'node', 'node_version.h'), 'utf8')
    const part = (name) => new RegExp(`^#define NODE_${name}_VERSION (\\d+)$`, 'm').exec(text)?.[1]
    return `${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}` === versions.node ? { npm_config_nodedir: prefix } : {}
  } catch {
    return {}
  }
}

function npm(...words) {
  const flags = { CFLAGS: '-O1', CXXFLAGS: '-O1', JOBS: 'max', ...headers() }
  spawnSync(process.execPath, [env.npm_execpath, ...words], { cwd: root, stdio: 'inherit', env: { ...flags, ...env } })
}
