import type { HtmlEscapedString } from 'hono/utils/html';

/** What JSX makes: everything in it is escaped but what says `raw`. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;
