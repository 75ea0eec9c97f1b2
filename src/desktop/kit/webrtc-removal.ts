import { webrtcGlobals } from '../../base/webrtc.ts'

// Imported first: code that runs later finds no WebRTC.
for (const name of Object.getOwnPropertyNames(globalThis)) {
  if (webrtcGlobals.test(name)) Reflect.deleteProperty(globalThis, name)
}
