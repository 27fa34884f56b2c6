import type { HtmlEscapedString } from 'hono/utils/html';

/** Output of JSX: everything is escaped except `raw`. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;
