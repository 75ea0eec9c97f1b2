import { start } from '../../kit/start.tsx'
import './files.css'
import { Files } from './files.tsx'

void start(Files)
