import { expandRule, type Expansion } from './expand-rule.ts'

addEventListener('message', ({ data }: MessageEvent<Expansion>) => postMessage({ starts: expandRule(data) }))
postMessage('ready')
