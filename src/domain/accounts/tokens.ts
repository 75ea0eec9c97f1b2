import { createHash } from 'node:crypto'
import { randomHex } from '../../base/random.ts'

const TOKEN = /^[0-9a-f]{64}$/
const PENDING_TOKEN = /^p_[0-9a-f]{64}$/

/** 256 random bits: a plain hash protects them at rest, because they cannot be guessed. */
export const newToken = (): string => randomHex(32)

/** A token that cannot be mistaken for a device token. */
export const newPendingToken = (): string => `p_${randomHex(32)}`

export const isToken = (text: string): boolean => TOKEN.test(text)
export const isPendingToken = (text: string): boolean => PENDING_TOKEN.test(text)

/** The stored form of a token: its SHA-256 in hex. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')
