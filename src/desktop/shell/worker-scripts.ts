/** Scripts that run beside the page, by their addresses. */
const addresses = { service: '/service-worker.js', recurrence: '/recurrence-worker.js' } as const

type Script = keyof typeof addresses

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(script: string): string },
  ): { createScriptURL(script: string): string }
}

// The policy of the page permits these scripts, and no other policy that would make addresses of scripts.
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('worker-scripts', {
  createScriptURL: (script) => addresses[script as Script],
})

/** The address of a script, as the page's policy requires it. */
export const scriptAddress = (script: Script): string => policy?.createScriptURL(script) ?? addresses[script]

export const startScript = (script: Script): Worker => new Worker(scriptAddress(script))
