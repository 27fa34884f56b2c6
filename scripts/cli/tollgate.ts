import { fileURLToPath } from 'node:url';
import { main } from './main.ts';

await main({ root: fileURLToPath(new URL('../..', import.meta.url)) });
