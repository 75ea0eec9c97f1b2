import { start } from '../../kit/app-root.tsx'
import './files.css'
import { Files } from './files.tsx'

void start(Files)
