import type { Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Uploads } from '../../core/limits/limit-table.ts';
import type { ApprovalCheck } from '../../core/notify/approval-link.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import type { OwnSessions } from '../../core/signin/sessions.ts';
import type { ApiDeps } from '../api/api-parts.ts';
import { readForm } from '../unreadable-request.ts';
import type { Values } from './parts/form-field.tsx';
import type { Markup } from './parts/layout.tsx';

const FIELDS_MAX = 60;
const FIELD_CHARACTERS_MAX = 2_000;

/** The texts of a form, trimmed and cut; files and the token are left out. */
export async function readValues(c: PageContext): Promise<Values> {
  const texts = Object.entries(await readForm(c)).flatMap(([name, value]) =>
    typeof value === 'string' && name !== 'csrf' ? [[name, value.trim().slice(0, FIELD_CHARACTERS_MAX)]] : [],
  );
  return Object.fromEntries(texts.slice(0, FIELDS_MAX));
}

export const readWholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

const CURSOR_CHARACTERS_MAX = 1_000;

const queryText = (c: PageContext, name: string, charactersMax = 255): string | undefined =>
  c.req.query(name)?.trim().slice(0, charactersMax) || undefined;

/** Reads parameters of the address. Undefined: absent, empty or not of this type. */
export const query = {
  text: queryText,
  number: (c: PageContext, name: string) => readWholeNumber(queryText(c, name)),
  oneOf: <Value extends string>(c: PageContext, name: string, values: readonly Value[]) =>
    values.find((value) => value === queryText(c, name)),
  cursor: (c: PageContext) => queryText(c, 'cursor', CURSOR_CHARACTERS_MAX),
};

const REPORT_DAYS = 14;
const REPORT_DAYS_MAX = 62;

export const readReportDays = (text: string | undefined): number =>
  Math.min(REPORT_DAYS_MAX, Math.max(1, readWholeNumber(text) ?? REPORT_DAYS));

export function doneText(c: PageContext): string | undefined {
  const saved = query.text(c, 'saved');
  if (saved === 'nothing') return 'Nothing was changed: the limits already have these values.';
  return readWholeNumber(saved) === undefined
    ? DONE[query.text(c, 'done') ?? '']
    : `Saved as edit ${saved}. It applies to new jobs within seconds.`;
}

const DONE: Readonly<Record<string, string>> = {
  filed: 'Your request was filed. Users who may approve it see it here.',
  approved: 'Approved. An edit is in force now, a grant from its first day.',
  declined: 'Declined.',
  sent: 'The report was sent to the owner and recorded.',
  'sent-before': 'The owner got the report within the last hour. This was recorded.',
  informed: 'Your notification of the owner was recorded.',
  'no-topic':
    'Nothing was sent, because no topic for owners is configured. Notify the owner yourself, and record it.',
};

export interface PagesDeps extends ApiDeps {
  readonly uploads: Uploads;
  readonly zone: string;
  readonly origin: string;
  /** Checks signed links to requests. @default signed links are refused */
  readonly checkApproval?: ApprovalCheck;
  readonly sessions?: OwnSessions;
}

export type PageContext = Context<SignInEnv>;
export type PageRoutes = (app: Hono<SignInEnv>, deps: PagesDeps) => void;

export const send = async (
  c: PageContext,
  markup: Markup,
  status: ContentfulStatusCode = 200,
): Promise<Response> => c.html(await markup, status);
