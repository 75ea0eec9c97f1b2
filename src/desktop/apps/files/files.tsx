import { useSignalEffect } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Split } from '../../kit/split.tsx'
import { OfflineBanner } from '../../kit/states.tsx'
import { toastTrouble } from '../../kit/toast.tsx'
import { NameQuestions } from './conflict-question.tsx'
import { follow, listen, place, view } from './folder.ts'
import { FileView } from './file-view.tsx'
import { FolderView } from './folder-view.tsx'
import { opened, openItem } from './opened.ts'
import { isSideShown, Side } from './side.tsx'
import { TrashView } from './trash-view.tsx'
import { UploadPanel } from './upload-panel.tsx'
import { resumeWithServer } from './uploads.ts'
import { words } from './words.ts'

/** The app. */
export function Files() {
  const [isStarted, setStarted] = useState(false)
  useEffect(() => {
    listen()
    resumeWithServer()
    void bridge.kept('view').then((kept) => {
      if (kept === 'grid') view.value = kept
      setStarted(true)
    })
  }, [])
  useSignalEffect(() => void follow(bridge.path.value, openItem).catch(toastTrouble))
  useEffect(() => {
    // A file that misses its folder must not be what the frame shows next.
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
        <Split
          label={words('places')}
          shows={isSideShown.value ? 'side' : 'main'}
          side={<Side />}
          main={
            <>
              {opened.value ? (
                <FileView key={opened.value.path} {...opened.value} />
              ) : place.value === 'trash' ? (
                <TrashView />
              ) : (
                isStarted && <FolderView />
              )}
              <UploadPanel />
            </>
          }
        />
      </div>
      <NameQuestions />
    </>
  )
}
