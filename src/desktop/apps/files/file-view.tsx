import { printable } from '../../../base/text.ts'
import { ArrowLeft, ChevronLeft, ChevronRight, Download, History } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { useBackLevels } from '../../kit/back-levels.ts'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Toolbar } from '../../kit/split-view.tsx'
import { common } from '../../kit/words.ts'
import type { Item } from './folder.ts'
import { kindOf } from './file-kinds.ts'
import { leaveShow } from './image-view.tsx'
import { openFile, openSibling, siblingOf } from './open-file.ts'
import { Preview } from './preview.tsx'
import { TextView } from './text-view.tsx'
import { VersionsDialog } from './versions-dialog.tsx'
import { words } from './words.ts'

/** Largest text that can be edited, bytes (the limit of `filesystem.read`). */
const TEXT_MAX = 5 * 1_048_576

/** An open file: a preview, or an editor for texts. */
export function FileView({ path, item }: { path: string; item: Item }) {
  const [isVersions, setVersions] = useState(false)
  const [before, after] = [siblingOf(path, -1), siblingOf(path, 1)]
  const kind = kindOf(item)
  const isText = (kind === 'text' || kind === 'markdown') && (item.size ?? 0) <= TEXT_MAX
  const close = () => {
    leaveShow()
    openFile.value = undefined
  }
  useBackLevels(1, close)
  useEffect(() => bridge.setTitle(`${printable(item.name)} – ${words('files')}`), [item.name])
  useKeys((event) => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return
    if (event.key === 'Escape') close()
    const isElsewhere =
      event.target instanceof Element && event.target.closest('input, textarea, video, audio, .editor') !== null
    if (isElsewhere || event.altKey || event.ctrlKey || event.metaKey) return
    const next = event.key === 'ArrowLeft' ? before : event.key === 'ArrowRight' ? after : undefined
    if (next) openSibling(next)
  })

  return (
    <article class="file" aria-label={printable(item.name)}>
      <Toolbar label={printable(item.name)}>
        <IconButton icon={ArrowLeft} label={common('back')} onClick={close} />
        <h2 class="name" title={printable(item.name)}>
          {printable(item.name)}
        </h2>
        <span class="space" />
        <IconButton
          icon={ChevronLeft}
          class="wide-only"
          label={words('previous')}
          disabled={!before}
          onClick={() => before && openSibling(before)}
        />
        <IconButton
          icon={ChevronRight}
          class="wide-only"
          label={words('next')}
          disabled={!after}
          onClick={() => after && openSibling(after)}
        />
        <IconButton icon={History} label={words('versions')} onClick={() => setVersions(true)} />
        <IconButton
          icon={Download}
          label={words('download')}
          onClick={() => bridge.download('filesystem.download', { path })}
        />
      </Toolbar>
      {isText ? (
        <TextView path={path} isMarkdown={kind === 'markdown'} />
      ) : (
        <Preview path={path} item={item} kind={kind} />
      )}
      {isVersions && <VersionsDialog path={path} onClose={() => setVersions(false)} />}
    </article>
  )
}
