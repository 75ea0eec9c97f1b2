import { iso, isoOrNull } from '../../base/clock.ts'
import type { Domain } from '../../domain/domain.ts'

type Job = NonNullable<Awaited<ReturnType<Domain['backups']['jobs']['last']>>>

const stateOf = ({ result, isRunning, isStopping }: Job) =>
  result?.state ?? (isRunning ? (isStopping ? ('stopping' as const) : ('running' as const)) : ('interrupted' as const))

export const jobView = (job: Job) => ({
  job: job.kind,
  state: stateOf(job),
  by: job.by,
  started_at: iso(job.started_at),
  ended_at: isoOrNull(job.ended_at),
  done_bytes: job.done_bytes,
  total_bytes: job.total_bytes || null,
  backup: job.result?.id ?? job.backup ?? null,
  messages: job.result?.messages ?? [],
})
