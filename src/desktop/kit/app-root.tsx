import './webrtc-removal.ts'
import { render, type FunctionComponent } from 'preact'
import { bridge, connect } from './bridge.ts'
import './kit.css'
import { Dialogs } from './dialog.tsx'
import { Toasts } from './toast.tsx'

export async function start(App: FunctionComponent): Promise<void> {
  await connect()
  // Following a link would navigate the frame of the app.
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null
    if (!(link instanceof HTMLAnchorElement) || link.hash === link.getAttribute('href')) return
    event.preventDefault()
    bridge.openLink(link.href)
  })
  const root = document.querySelector('#root')!
  render(
    <>
      <App />
      <Dialogs />
      <Toasts />
    </>,
    root,
  )
  bridge.reportStart(true)
}
