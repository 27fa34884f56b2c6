import { Hono } from 'hono';
import { closedCsv, closedFocusCsv } from '../../../answers/statement/csv.ts';
import type { ClosedMonths } from '../../../answers/statement/model.ts';
import type { SignInEnv, User } from '../../../core/signin/index.ts';
import { query } from '../asked.ts';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { unknownPlace } from '../problem-page.tsx';
import { closedStatementPage } from './closed-statement-page.tsx';
import { statementsPage } from './statements-page.tsx';

const GROUP_CHARACTERS_MAX = 255;
/** A month of a company of some size. */
const LATEST_MAX = 50;
const FILES = { 'statement.csv': closedCsv, 'focus.csv': closedFocusCsv } as const;

/** A group's closed months, one of them as page, CSV and FOCUS. */
export function statementPageRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/statements', async (c) => {
    const { user } = c.var;
    const asked = query(c, 'group', GROUP_CHARACTERS_MAX);
    const group = asked ?? ownGroup(user);
    const months = group === undefined ? undefined : await read.closedMonths(group, user);
    const latest = asked === undefined && seesAll(user) ? await read.lastStatements(LATEST_MAX) : [];
    return send(
      c,
      statementsPage(user, { asked, months, latest }, pageFormatOf(deps)),
      months === undefined && asked !== undefined ? 404 : 200,
    );
  });

  app.get('/statements/:month', async (c) => {
    const { user } = c.var;
    const found = await statementOf(c);
    if (found === undefined) return send(c, unknownPlace(user), 404);
    return send(c, closedStatementPage(user, { ...found, origin: deps.origin }, pageFormatOf(deps)));
  });

  app.get('/statements/:month/:file', async (c) => {
    const file = FILES[c.req.param('file') as keyof typeof FILES];
    const found = file === undefined ? undefined : await statementOf(c);
    if (file === undefined || found === undefined) return send(c, unknownPlace(c.var.user), 404);
    const { statement } = found;
    const kind = file === closedCsv ? 'statement' : 'focus';
    return c.body(file(statement), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${kind}-${statement.number}.csv"`,
    });
  });

  return app;

  async function statementOf(c: PageContext) {
    const group = query(c, 'group', GROUP_CHARACTERS_MAX);
    const months = group === undefined ? undefined : await read.closedMonths(group, c.var.user);
    const statement = months?.statements.find(({ month }) => month === c.req.param('month'));
    if (months === undefined || statement === undefined) return undefined;
    return { statement, isWhole: isWhole(months, statement.number) };
  }
}

/** Default subject: everything, or the user's first group. */
const ownGroup = (user: User): string | undefined =>
  seesAll(user) ? 'instance' : user.roles.viewerGroupIds[0]?.toString();

const seesAll = ({ roles: { admin, finance } }: User): boolean => admin || finance;

/** A break of the chain puts every statement from there on in doubt. */
const isWhole = ({ broken, statements }: ClosedMonths, number: number): boolean =>
  broken === undefined ||
  statements.findIndex((each) => each.number === number) <
    statements.findIndex((each) => each.number === broken.number);
