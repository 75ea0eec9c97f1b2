#!/usr/bin/env node
import { statSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

// Not imported: that opens standard input, and lists the options of Node.
const { env } = process

// Node keeps the compiled code between runs, where it can (22.8 and later). Whoever writes there decides what runs: never in
// the temporary folder that all users share, and not in the home of somebody else.
if (module.enableCompileCache && !env.NODE_COMPILE_CACHE) {
  const home = env.HOME || homedir()
  const named = env.XDG_CACHE_HOME
  if (isOwn(home)) module.enableCompileCache(join(named && isAbsolute(named) ? named : join(home, '.cache'), 'svc'))
}
try {
  await import('../dist/svc.js')
} catch (error) {
  // Without a free descriptor not even the code can be loaded that would say so.
  if (error?.code !== 'EMFILE' && error?.code !== 'ENFILE') throw error
  process.stderr.write('svc: Too many files are open. Raise the limit (ulimit -n 1024), and run this again.\n')
  process.exitCode = 1
}

function isOwn(folder) {
  try {
    return process.getuid === undefined || statSync(folder).uid === process.getuid()
  } catch {
    return false
  }
}
