/** The console's pages from their sources, which have JSX: programs that are not bundled take them from here. */
import './jsx.ts';

export const { createPages } = await import('../functions/console/pages/create-pages.ts');
export const { renderNotice } = await import('../functions/console/pages/problem-page.tsx');
