import { useSignalEffect } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useBackLevels } from '../../kit/back-levels.ts'
import { bridge } from '../../kit/bridge.ts'
import { SplitView } from '../../kit/split-view.tsx'
import { OfflineBanner } from '../../kit/empty-state.tsx'
import { toastError } from '../../kit/toast.tsx'
import { NameConflicts } from './name-conflict.tsx'
import { folder, openFolder, openPath, startListening, place, view } from './folder.ts'
import { breadcrumbsOf, parentOf } from './paths.ts'
import { FileView } from './file-view.tsx'
import { FolderView } from './folder-view.tsx'
import { openFile, openItem } from './open-file.ts'
import { PhotosView } from './photos-view.tsx'
import { isSidebarShown, Sidebar } from './sidebar.tsx'
import { TrashView } from './trash-view.tsx'
import { UploadPanel } from './upload-panel.tsx'
import { resumeWhenOnline } from './uploads.ts'
import { words } from './words.ts'

export function Files() {
  const [isStarted, setStarted] = useState(false)
  useEffect(() => {
    startListening()
    resumeWhenOnline()
    void bridge.getItem('view').then((kept) => {
      if (kept === 'grid') view.value = kept
      setStarted(true)
    })
  }, [])
  useBackLevels(place.value !== 'folder' ? 1 : breadcrumbsOf(folder.value).length - 1, () =>
    openFolder(place.peek() !== 'folder' ? '/' : parentOf(folder.peek())),
  )
  useSignalEffect(() =>
    bridge.setLocation(
      place.value === 'trash' ? '/' : (openFile.value?.path ?? (place.value === 'photos' ? '/' : folder.value)),
    ),
  )
  useSignalEffect(() => void openPath(bridge.path.value, openItem).catch(toastError))
  useEffect(() => {
    // A file dropped beside a target would navigate the frame.
    const ignore = (event: DragEvent) => event.preventDefault()
    addEventListener('dragover', ignore)
    addEventListener('drop', ignore)
    return () => {
      removeEventListener('dragover', ignore)
      removeEventListener('drop', ignore)
    }
  }, [])
  return (
    <>
      <h1 class="unseen">{words('files')}</h1>
      <OfflineBanner />
      <div class="files">
        <SplitView
          label={words('places')}
          shows={isSidebarShown.value ? 'side' : 'main'}
          back={isSidebarShown.value && (() => void (isSidebarShown.value = false))}
          side={<Sidebar />}
          main={
            <>
              {openFile.value ? (
                <FileView key={openFile.value.path} {...openFile.value} />
              ) : place.value === 'trash' ? (
                <TrashView />
              ) : place.value === 'photos' ? (
                <PhotosView />
              ) : (
                isStarted && <FolderView />
              )}
              <UploadPanel />
            </>
          }
        />
      </div>
      <NameConflicts />
    </>
  )
}
