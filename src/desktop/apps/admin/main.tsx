import { start } from '../../kit/start.tsx'
import './admin.css'
import { Admin } from './admin.tsx'

void start(Admin)
