import { effect } from '@preact/signals'
import { preferences } from './preferences.ts'
import { addressOf } from './api-calls.ts'
import { stage } from './session.ts'

const { style, dataset } = document.documentElement

// The user's image lies over the default wallpaper, which is visible if the image cannot be loaded: before signing in,
// for other users of the browser, or after it was deleted.
effect(() => {
  const { wallpaper } = preferences.value
  const isOwn = wallpaper.startsWith('/')
  dataset['wallpaper'] = isOwn ? 'own' : wallpaper
  if (isOwn && stage.value === 'signed-in')
    style.setProperty('--own-picture', `url("${addressOf('filesystem.download', { path: wallpaper })}")`)
  else style.removeProperty('--own-picture')
})
