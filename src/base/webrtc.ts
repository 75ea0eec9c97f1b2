// WebRTC sends UDP past `connect-src`. The directive `webrtc 'block'` (CSP level 3) prevents that, but Chromium 156
// does not support it, so WebRTC is also removed from every realm before untrusted scripts run.

/** Names of globals that belong to WebRTC, with the prefixes of older engines. */
export const webrtcGlobals = /^(?:webkit|moz)?RTC/

/** Removes WebRTC from its realm. Can be prepended to classic scripts and modules without changing their line numbers. */
export const REMOVE_WEBRTC = `for(const name of Object.getOwnPropertyNames(globalThis))if(${webrtcGlobals}.test(name))delete globalThis[name];`
