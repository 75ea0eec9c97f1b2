import { start } from '../../kit/start.tsx'
import './places.css'
import { Places } from './places.tsx'

void start(Places)
