import { start } from '../../kit/app-root.tsx'
import './places.css'
import { Places } from './places.tsx'

void start(Places)
