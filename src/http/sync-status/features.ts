import { DOWNLOAD_BATCH, FILES_BATCH, MAX_WAIT, UPLOAD_BATCH } from '../../contract/limits.ts'

/** Feature flags of the specification that this server supports. */
export const flags = {
  delta_sync: true,
  file_sync: true,
  team_chat: true,
  chess: false,
  '2fa': true,
  conflict_copy: true,
}

/** Extensions of this server. Clients use one only if it is listed. */
export const features = {
  preconditions: true,
  push_op_id: true,
  push_base_version: true,
  push_delete: true,
  idempotency_key: true,
  files_feed: true,
  manifest_etag: true,
  manifest_directories: true,
  upload_sha256: true,
  download_range: true,
  upload_batch: UPLOAD_BATCH,
  download_batch: DOWNLOAD_BATCH,
  files_batch: FILES_BATCH,
  wait: MAX_WAIT,
}
