/** Limits that change without a deployment: by a parameter, and by the command line. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteParameterCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { isRecord } from '../../../policies/document/reading.ts';
import * as deployed from './deployed.ts';
import { ssm, tableOf } from './deployed-table.ts';
import { expectEqual, type Step } from './step.ts';
import { tollgate } from './tollgate-cli.ts';

type Place = deployed.RehearsalPlace;

const NAME = `/tollgate/${deployed.REHEARSAL_STAGE}/limits/101`;
const ID = 'by-parameter';
const OTHER_ID = 'by-command';
const AMOUNT = '1200';
const AMOUNT_MICROS = 1_200_000_000;
const valueWith = (amount: string): string =>
  `path: acme/payments\nlimits:\n  - { id: ${ID}, money: ${amount}, per: quarter, owner: payments-leads }\n`;

export const LIMITS_COURSE: readonly Step<Place>[] = [
  {
    name: 'a limit put into Parameter Store becomes live, an invalid edit of it changes nothing, and deleted it leaves the limit to two people',
    run: async (place) => {
      const function_ = await deployed.startDeployed(place, 'ssm-limits');
      const run = () => function_.invoke({ source: 'aws.events' });
      const put = (Value: string) =>
        ssm(place).send(new PutParameterCommand({ Name: NAME, Value, Type: 'String', Overwrite: true }));
      try {
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
        await ssm(place).send(new DeleteParameterCommand({ Name: NAME }));
        await run();
        expectEqual('the limit after its parameter', await amountOf(place), AMOUNT_MICROS);
        return NAME;
      } finally {
        await function_.close();
      }
    },
  },
  {
    name: 'npx tollgate exports the limits of the deployed table, and takes the same file back as no change',
    run: async (place) => {
      const csv = await tollgate(place, 'budget', 'export', '--ledger', tableOf(place));
      const file = join(place.folder, 'limits.csv');
      writeFileSync(file, csv);
      const told = await tollgate(place, 'budget', 'import', file, '--dry-run', '--ledger', tableOf(place));
      if (!told.includes('No limit differs from the live set')) throw new Error(`the import says: ${told}`);
      return `${csv.trim().split('\n').length - 1} limits`;
    },
  },
  {
    name: 'npx tollgate budget changes a limit, its owner is told, and two people undo it with the document of the set before',
    run: async (place) => {
      const table = ['--ledger', tableOf(place)];
      const file = join(place.folder, 'before.yaml');
      const before = await liveSet(place);
      await messagesSent(place);
      const set = ['budget', 'set', 'acme/payments', '3 starts/day', '--limit', OTHER_ID];
      await tollgate(place, ...set, '--reason', 'a rehearsal', ...table);
      expectEqual('the limit', await amountOf(place, OTHER_ID), 3);
      expectEqual('messages to owners', await messagesSent(place), 1);
      writeFileSync(file, await tollgate(place, 'limits', 'show', '--document', '--set', before, ...table));
      const publish = ['limits', 'publish', file, '--why', 'back to before', ...table];
      const waits = await tollgate(place, ...publish).catch(String);
      const [, request] = /Request (r-\S+) waits for somebody else/.exec(waits) ?? [];
      if (request === undefined) throw new Error(`what takes a limit away is not asked for: ${waits}`);
      await tollgate(place, 'budget', 'approve', request, '--actor', 'somebody else', ...table);
      expectEqual('the limit from after the document', await amountOf(place, OTHER_ID), undefined);
      const history = await tollgate(place, 'budget', 'history', 'acme/payments', ...table);
      const told = ['a rehearsal', 'back to before'].filter((why) => history.includes(why));
      expectEqual('what the change log has of it', told.length, 2);
      return 'both are in the change log';
    },
  },
];

async function liveSet(place: Place): Promise<string> {
  const told: unknown = JSON.parse(
    await tollgate(place, 'limits', 'show', '--json', '--ledger', tableOf(place)),
  );
  const live = isRecord(told) ? told.live : undefined;
  return isRecord(live) ? String(live.set) : '';
}

/** Those of one run of the deployed function that tells owners what happened since it last ran. */
async function messagesSent(place: Place): Promise<unknown> {
  const notices = await deployed.startDeployed(place, 'notices');
  try {
    const report = await notices.invoke({ source: 'aws.events' });
    return isRecord(report) ? report.messages : report;
  } finally {
    await notices.close();
  }
}

/** What the limit allows, in its unit; undefined: there is none. */
async function amountOf(place: Place, id = ID): Promise<unknown> {
  const told = await tollgate(place, 'budget', 'ls', '--json', '--ledger', tableOf(place));
  const answer: unknown = JSON.parse(told);
  const rows = isRecord(answer) && Array.isArray(answer.limits) ? answer.limits : [];
  const row: unknown = rows.find((each: unknown) => isRecord(each) && each.limit === id);
  return isRecord(row) ? row.amount : undefined;
}
