import { Hono } from 'hono';
import { withoutAbsent } from '../../../../policies/without-absent.ts';
import { SPEND_KEYS, type SpendAnswer, type SpendQuery } from '../../../answers/report/model.ts';
import { groupsCsv, spendCsv, spendFocusCsv } from '../../../answers/report/spend-text.ts';
import type { SignInEnv, User } from '../../../core/signin/index.ts';
import { query, readWholeNumber } from '../asked.ts';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { problemPage, unknownPlace } from '../problem-page.tsx';
import { HEATS } from './hour-map.tsx';
import { reportPage } from './report-page.tsx';

/** A line with its trend is about a kilobyte: a page stays below 100 KB. */
const ROWS = 40;
const FILE_ROWS = 1_000;
/** A response has at most 6 MB, and a FOCUS line about 600 bytes. */
const FILE_LINES_MAX = 9_000;
const TEXT_MAX = 255;

/** A report, its rows as CSV, and all groups as CSV and FOCUS. */
export function reportPageRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/reports', async (c) => {
    const { user } = c.var;
    const asked = askedOf(c);
    const answer = unknownKey(c) ?? (await read.spend({ ...asked, top: ROWS }, user));
    const heat = HEATS.find((each) => each === query(c, 'heat')) ?? 'micros';
    const isNamed = asked.group !== undefined || asked.project !== undefined;
    return send(
      c,
      reportPage(user, { asked, answer, heat }, pageFormatOf(deps)),
      answer.outcome === 'unknown_group' && isNamed ? 404 : 200,
    );
  });

  app.get('/reports/:file{spend.csv|groups.csv|focus.csv}', async (c) => {
    const { user } = c.var;
    const file = c.req.param('file');
    const asked = askedOf(c);
    if (file === 'spend.csv') {
      const answer = unknownKey(c) ?? (await read.spend({ ...asked, top: FILE_ROWS }, user));
      if (answer.outcome !== 'reported') return refused(c, user, answer);
      const { report } = answer;
      return download(c, spendCsv(report), `spend-${report.fromDay}-${report.toDay}.csv`);
    }
    const answer = await read.spendList(asked, user);
    if (answer.outcome !== 'listed') return refused(c, user, answer);
    const { list } = answer;
    if (list.lines.length > FILE_LINES_MAX) return send(c, problemPage(user, TOO_LONG), 413);
    const isFocus = file === 'focus.csv';
    const text = isFocus ? spendFocusCsv(list, true) : groupsCsv(list, true);
    return download(c, text, `${isFocus ? 'focus' : 'groups'}-${list.fromDay}-${list.toDay}.csv`);
  });

  return app;
}

const TOO_LONG = {
  title: 'Too long',
  sentence: `A file from here has at most ${FILE_LINES_MAX.toLocaleString('en-US')} groups.`,
  remedy: 'Ask for one group, or use the command line: npx tollgate report spend --all --csv.',
} as const;

/** An invalid typed key is an error, because another report would look like the requested one. */
function unknownKey(c: PageContext): Extract<SpendAnswer, { outcome: 'unreadable' }> | undefined {
  const by = query(c, 'by', TEXT_MAX);
  if (by === undefined || SPEND_KEYS.some((key) => key === by)) return undefined;
  return { outcome: 'unreadable', asked: 'by', sentence: `expected one of ${SPEND_KEYS.join(', ')}` };
}

function askedOf(c: PageContext): SpendQuery {
  const [from, to] = [query(c, 'from', TEXT_MAX), query(c, 'to', TEXT_MAX)];
  const isDays = from !== undefined || to !== undefined;
  const by = SPEND_KEYS.find((key) => key === query(c, 'by'));
  const project = readWholeNumber(query(c, 'project'));
  return withoutAbsent({
    ...(isDays ? { from, to } : { period: query(c, 'period', TEXT_MAX) }),
    ...(project === undefined ? { group: query(c, 'group', TEXT_MAX) } : { project }),
    by,
    compare: query(c, 'compare') === 'no' ? false : undefined,
  });
}

function refused(c: PageContext, user: User, answer: Exclude<SpendAnswer, { outcome: 'reported' }>) {
  if (answer.outcome === 'unknown_group') return send(c, unknownPlace(user), 404);
  const sentence = `No file of this: ${answer.asked} ${answer.sentence}.`;
  return send(c, problemPage(user, { title: 'No report', sentence, remedy: 'Go back and correct it.' }), 422);
}

const download = (c: PageContext, text: string, name: string): Response =>
  c.body(text, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  });
