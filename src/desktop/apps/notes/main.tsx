import { start } from '../../kit/app-root.tsx'
import './notes.css'
import { Notes } from './notes.tsx'

void start(Notes)
