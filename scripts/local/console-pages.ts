import './jsx.ts';

const { createPages } = await import('../../functions/console/pages/create-pages.ts');
const { renderNotice } = await import('../../functions/console/pages/problem-page.tsx');

export { createPages, renderNotice };
