// WebRTC sends UDP past `connect-src`. The directive `webrtc 'block'` (CSP level 3) closes it, but Chromium 156 does not know it,
// so what opens such connections is also removed from every realm before a script of somebody else runs in it.

/** Names of globals that belong to WebRTC, with the prefixes of older engines. */
export const webrtcGlobals = /^(?:webkit|moz)?RTC/

/** Removes WebRTC from the realm it runs in. Fits in front of classic scripts and modules, and leaves their line numbers alone. */
export const REMOVE_WEBRTC = `for(const name of Object.getOwnPropertyNames(globalThis))if(${webrtcGlobals}.test(name))delete globalThis[name];`
