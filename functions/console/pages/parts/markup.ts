import type { HtmlEscapedString } from 'hono/utils/html';

/** Escaped: only `html` makes it. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;
