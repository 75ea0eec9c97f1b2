import { start } from '../../kit/start.tsx'
import './notes.css'
import { Notes } from './notes.tsx'

void start(Notes)
