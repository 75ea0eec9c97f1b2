import { start } from '../../kit/app-root.tsx'
import './help.css'
import { Help } from './help.tsx'

void start(Help)
