import { webrtcGlobals } from '../../base/webrtc.ts'

// Loaded before anything else of an app: what gets into its page later finds no WebRTC.
for (const name of Object.getOwnPropertyNames(globalThis)) {
  if (webrtcGlobals.test(name)) Reflect.deleteProperty(globalThis, name)
}
