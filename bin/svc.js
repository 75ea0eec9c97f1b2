#!/usr/bin/env node
import { statSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import process, { env } from 'node:process'

// Node keeps the compiled code between runs, where it can (22.8 and later). Whoever writes there decides what runs: never in
// the temporary folder that all users share, and not in the home of somebody else.
if (module.enableCompileCache && !env.NODE_COMPILE_CACHE) {
  const home = env.HOME || homedir()
  const named = env.XDG_CACHE_HOME
  if (isOwn(home)) module.enableCompileCache(join(named && isAbsolute(named) ? named : join(home, '.cache'), 'svc'))
}
await import('../dist/svc.js')

function isOwn(folder) {
  try {
    return process.getuid === undefined || statSync(folder).uid === process.getuid()
  } catch {
    return false
  }
}
