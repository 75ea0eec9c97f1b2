import { start } from '../../kit/app-root.tsx'
import './assistant.css'
import { Assistant } from './assistant.tsx'

void start(Assistant)
