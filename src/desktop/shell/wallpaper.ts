import { effect } from '@preact/signals'
import { preferences } from './preferences.ts'
import { addressOf } from './api-calls.ts'
import { stage } from './session.ts'

const { style, dataset } = document.documentElement

// A picture of the user's own lies over the standard wallpaper, which is seen where there is no such picture: before
// somebody signed in, for others at the same browser, and after it was deleted.
effect(() => {
  const { wallpaper } = preferences.value
  const isOwn = wallpaper.startsWith('/')
  dataset['wallpaper'] = isOwn ? 'own' : wallpaper
  if (isOwn && stage.value === 'signed-in')
    style.setProperty('--own-picture', `url("${addressOf('filesystem.download', { path: wallpaper })}")`)
  else style.removeProperty('--own-picture')
})
