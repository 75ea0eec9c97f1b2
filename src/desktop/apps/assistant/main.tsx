import { start } from '../../kit/start.tsx'
import './assistant.css'
import { Assistant } from './assistant.tsx'

void start(Assistant)
