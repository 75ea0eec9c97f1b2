declare const __SVC_VERSION__: string | undefined

export const version = typeof __SVC_VERSION__ === 'undefined' ? '0.0.0-source' : __SVC_VERSION__
