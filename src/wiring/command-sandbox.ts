import type { Settings } from '../domain/instance/instance.ts'
import { makeSandbox } from '../outside/sandbox.ts'

/** The sandbox for commands, if the administrator allows it and the machine supports it. */
export function openSandbox(settings: Pick<Settings, 'values'>, env: NodeJS.ProcessEnv) {
  const sandbox = makeSandbox({ env })
  let probed: Promise<string | undefined> | undefined

  /** Why the assistant runs no commands, as a sentence; undefined if it does. */
  async function obstacle(): Promise<string | undefined> {
    const { 'assistant.run_command': wanted } = await settings.values()
    if (wanted === 'off') return 'Commands are turned off.'
    if (wanted === 'auto' && process.getuid?.() === 0)
      return 'The server runs as root: commands run only with assistant.run_command on, as nobody.'
    // A probe that fails by itself, as without a temporary folder, says nothing about the sandbox and is repeated.
    probed ??= sandbox.probe().catch((error: Error) => {
      probed = undefined
      return `Commands cannot be tried: ${error.message}.`
    })
    return probed
  }

  return { obstacle, sandbox: async () => ((await obstacle()) === undefined ? sandbox : undefined) }
}
