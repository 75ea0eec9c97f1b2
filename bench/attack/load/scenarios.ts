import type { Scenario } from './scenario.ts'
import { archive } from './scenarios/archive.ts'
import { componentSave } from './scenarios/component-save.ts'
import { copyTree } from './scenarios/copy-tree.ts'
import { halfOpen } from './scenarios/half-open.ts'
import { halfRequests } from './scenarios/half-requests.ts'
import { hugeFolder } from './scenarios/huge-folder.ts'
import { initialSync } from './scenarios/initial-sync.ts'
import { jsonAccount } from './scenarios/json-account.ts'
import { jsonAnonymous } from './scenarios/json-anonymous.ts'
import { largeRoom } from './scenarios/large-room.ts'
import { manifest } from './scenarios/manifest.ts'
import { passwordHashing } from './scenarios/password-hashing.ts'
import { pipelining } from './scenarios/pipelining.ts'
import { push } from './scenarios/push.ts'
import { roomRemoval } from './scenarios/room-removal.ts'
import { search } from './scenarios/search.ts'
import { slowBodies } from './scenarios/slow-bodies.ts'
import { tinyChunks } from './scenarios/tiny-chunks.ts'
import { uploadBatch } from './scenarios/upload-batch.ts'

/** Attacks on the connection level. */
const framing: readonly Scenario[] = [tinyChunks, slowBodies, halfRequests, halfOpen, pipelining]

const json: readonly Scenario[] = [jsonAnonymous, jsonAccount]

/** The most expensive requests that the contract permits. */
export const heavy: readonly Scenario[] = [
  manifest,
  archive,
  copyTree,
  initialSync,
  search,
  hugeFolder,
  push,
  uploadBatch,
  componentSave,
  largeRoom,
  roomRemoval,
]

export const scenarios: readonly Scenario[] = [...framing, ...json, ...heavy, passwordHashing]
