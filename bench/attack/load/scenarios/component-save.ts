import { COMPONENT_CODE } from '../../../../src/contract/limits.ts'
import type { Scenario } from '../scenario.ts'

/** Many versions of components of the largest size. */
export const componentSave: Scenario = {
  name: 'component-save',
  async run({ ask, repeat, size }) {
    const code = `/* ${'x'.repeat(COMPONENT_CODE.max_bytes - 10)} */`
    const metadata = { note: 'x'.repeat(16_000) }
    await repeat({ atOnce: 8, most: size(240, 60) }, (number) =>
      ask({
        path: '/api/desktop-components.php?action=save',
        body: JSON.stringify({ component_id: `c-${number % 3}`, component_type: 'css', code, metadata }),
      }),
    )
  },
  allowed: /^(200|413 quota_exceeded|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
