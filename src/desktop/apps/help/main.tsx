import { start } from '../../kit/start.tsx'
import './help.css'
import { Help } from './help.tsx'

void start(Help)
