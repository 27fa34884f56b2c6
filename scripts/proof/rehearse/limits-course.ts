/** Limits that change without a deployment: by a parameter, and by the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteParameterCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { ENV_GITLAB_URL } from '../../../functions/names.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { startSignInGitLab } from '../../local/gitlab/sign-in-gitlab.ts';
import * as deployed from './deployed.ts';
import { documentedUrlEvent, type HostedBundle } from './hosted-bundle.ts';
import { expectEqual, type Step } from './step.ts';

const NAME = `/tollgate/${deployed.REHEARSAL_STAGE}/limits/101`;
const ID = 'by-parameter';
const OTHER_ID = 'by-command';
const AMOUNT = '1200';
const AMOUNT_MICROS = 1_200_000_000;
const valueWith = (amount: string): string =>
  `path: acme/payments\nlimits:\n  - { id: ${ID}, money: ${amount}, per: quarter, owner: payments-leads }\n`;

export const LIMIT_STEPS: readonly Step<deployed.RehearsalPlace>[] = [
  {
    name: 'a limit put into Parameter Store becomes live, an invalid edit of it changes nothing, and deleted it leaves the limit to two people',
    run: (place) =>
      deployed.withDeployed(place, 'ssm-limits', async (function_) => {
        const run = () => function_.invoke({ source: 'aws.events' });
        const put = (Value: string) =>
          deployed
            .ssm(place)
            .send(new PutParameterCommand({ Name: NAME, Value, Type: 'String', Overwrite: true }));
        await put(valueWith(AMOUNT));
        await run();
        expectEqual('the limit', await amountOf(place), AMOUNT_MICROS);
        await put(valueWith('a lot'));
        await run();
        expectEqual('the limit after an invalid edit', await amountOf(place), AMOUNT_MICROS);
        const told = function_
          .output()
          .split('\n')
          .filter((line) => line.includes('parameter refused'));
        expectEqual('lines that name the parameter', told.filter((line) => line.includes(NAME)).length, 1);
        await deployed.ssm(place).send(new DeleteParameterCommand({ Name: NAME }));
        await run();
        expectEqual('the limit after its parameter', await amountOf(place), AMOUNT_MICROS);
        return NAME;
      }),
  },
  {
    name: 'npx tollgate exports the limits of the deployed table, and takes the same file back as no change',
    run: async (place) => {
      const csv = await deployed.tollgate(place, 'budget', 'export');
      const file = join(place.folder, 'limits.csv');
      writeFileSync(file, csv);
      const told = await deployed.tollgate(place, 'budget', 'import', file, '--dry-run');
      if (!told.includes('No limit differs from the live set')) throw new Error(`the import says: ${told}`);
      return `${csv.trim().split('\n').length - 1} limits`;
    },
  },
  {
    name: 'npx tollgate budget changes a limit, its owner is told, and two people undo it with the document of the set before',
    run: async (place) => {
      const file = join(place.folder, 'before.yaml');
      const before = await liveSet(place);
      await messagesSent(place);
      const set = ['budget', 'set', 'acme/payments', '3 starts/day', '--limit', OTHER_ID];
      await deployed.tollgate(place, ...set, '--reason', 'a rehearsal');
      expectEqual('the limit', await amountOf(place, OTHER_ID), 3);
      expectEqual('messages to owners', await messagesSent(place), 1);
      writeFileSync(file, await deployed.tollgate(place, 'limits', 'show', '--document', '--set', before));
      const publish = ['limits', 'publish', file, '--why', 'back to before'];
      const waits = await deployed.tollgate(place, ...publish).catch(String);
      const [, request] = /Request (r-\S+) waits for somebody else/.exec(waits) ?? [];
      if (request === undefined) throw new Error(`what takes a limit away is not asked for: ${waits}`);
      await deployed.tollgate(place, 'budget', 'approve', request, '--actor', 'somebody else');
      expectEqual('the limit from after the document', await amountOf(place, OTHER_ID), undefined);
      const history = await deployed.tollgate(place, 'budget', 'history', 'acme/payments');
      const told = ['a rehearsal', 'back to before'].filter((why) => history.includes(why));
      expectEqual('what the change log has of it', told.length, 2);
      return 'both are in the change log';
    },
  },
];

async function liveSet(place: deployed.RehearsalPlace): Promise<string> {
  const told: unknown = JSON.parse(await deployed.tollgate(place, 'limits', 'show', '--json'));
  const live = isRecord(told) ? told.live : undefined;
  return isRecord(live) ? String(live.set) : '';
}

/** Runs the deployed notices once and returns the number of messages. */
const messagesSent = (place: deployed.RehearsalPlace): Promise<unknown> =>
  deployed.withDeployed(place, 'notices', async (notices) => {
    const report = await notices.invoke({ source: 'aws.events' });
    return isRecord(report) ? report.messages : report;
  });

/** The amount of a limit in its unit; undefined if the limit does not exist. */
async function amountOf(place: deployed.RehearsalPlace, id = ID): Promise<unknown> {
  const told = await deployed.tollgate(place, 'budget', 'ls', '--json');
  const answer: unknown = JSON.parse(told);
  const rows = isRecord(answer) && Array.isArray(answer.limits) ? answer.limits : [];
  const row: unknown = rows.find((each: unknown) => isRecord(each) && each.limit === id);
  return isRecord(row) ? row.amount : undefined;
}

const BROWSER = { accept: 'text/html' };

export const CONSOLE_STEPS: readonly Step<deployed.RehearsalPlace>[] = [
  {
    name: 'the deployed console is there, shows strangers nothing, and sends them to GitLab to sign in',
    run: async (place) => {
      const redirectUrl = `${deployed.REHEARSAL_CONSOLE_URL}/signin/callback`;
      const gitlab = await startSignInGitLab({ redirectUrl, users: [] });
      const instead = { [ENV_GITLAB_URL]: gitlab.url };
      try {
        return await deployed.withDeployed(
          place,
          'console',
          (console) => visit(place, console, gitlab.url),
          instead,
        );
      } finally {
        await gitlab.stop();
      }
    },
  },
];

async function visit(place: deployed.RehearsalPlace, console: HostedBundle, gitlabUrl: string) {
  expectEqual('/healthz', (await get(console, '/healthz')).status, 200);
  const page = await get(console, '/groups/101');
  expectEqual('a page', [page.status, page.location], [302, '/signin?returnTo=%2Fgroups%2F101']);
  for (const path of ['/api/v1/me', '/api/v1/limits', '/api/v1/groups'])
    expectEqual(path, (await get(console, path)).status, 401);
  const signIn = await get(console, '/signin');
  expectEqual('/signin', signIn.status, 302);
  const { origin, pathname, searchParams } = new URL(signIn.location ?? '');
  expectEqual('the way to sign in', `${origin}${pathname}`, `${gitlabUrl}/oauth/authorize`);
  expectEqual('the application', searchParams.get('client_id'), deployed.REHEARSAL_CLIENT_ID);
  expectEqual(
    'the way back',
    searchParams.get('redirect_uri'),
    `${deployed.REHEARSAL_CONSOLE_URL}/signin/callback`,
  );
  return `console at ${deployed.outputsOf(place, deployed.SERVICE_STACK).ConsoleUrl}`;
}

async function get(console: HostedBundle, path: string) {
  const answer = await console.invoke(documentedUrlEvent({ path, method: 'GET', headers: BROWSER }));
  if (!isRecord(answer)) throw new Error(`${path} answered ${JSON.stringify(answer)}`);
  const location = isRecord(answer.headers) ? answer.headers.location : undefined;
  return { status: answer.statusCode, location: typeof location === 'string' ? location : undefined };
}
