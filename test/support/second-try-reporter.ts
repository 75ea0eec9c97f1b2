import { relative } from 'node:path'
import type { Reporter, TestCase } from 'vitest/node'

/** Lists tests that passed only at the second attempt (`--retry=1`). */
export class SecondTryReporter implements Reporter {
  #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#names.push(`${relative('', test.module.moduleId)} > ${test.fullName}`)
  }

  onTestRunEnd(): void {
    if (this.#names.length === 0) return
    console.log(`${this.#names.length} passed only at the second try:`)
    for (const name of this.#names) console.log(`  ${name}`)
  }
}
