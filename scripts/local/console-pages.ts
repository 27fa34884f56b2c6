import { stop } from 'esbuild';
import './jsx.ts';

const { createPages } = await import('../../functions/console/pages/create-pages.ts');
const { renderNotice } = await import('../../functions/console/pages/problem-page.tsx');
await stop(); // frees 40 MB of its thread

export { createPages, renderNotice };
