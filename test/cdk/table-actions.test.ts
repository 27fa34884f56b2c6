import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { A_CONSOLE, DEFAULTS, type Synthesized, synthesize } from './synthesized.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What an operation on the table asks for. A transaction asks for the actions of the writes in it. */
const ACTIONS_OF: Readonly<Record<string, readonly string[]>> = {
  BatchGetItem: ['BatchGetItem'],
  DeleteItem: ['DeleteItem'],
  GetItem: ['GetItem'],
  PutItem: ['PutItem'],
  Query: ['Query'],
  Scan: ['Scan'],
  TransactWriteItems: ['PutItem', 'UpdateItem'],
  UpdateItem: ['UpdateItem'],
};
const STREAM = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];
const IMPORT = /(?:\{([^{}]*)\}\s*from|import\()\s*'(\.[^']+\.tsx?)'/g;
const HANDED_ON = /export (?:type )?\{([^}]*)\} from '([^']+)'/g;
/** `table.send('Query', …)`: each operation has a function of its own in the store. */
const OPERATION = /\.send\(\s*'([A-Za-z]+)'/g;

const namesIn = (list: string): readonly string[] =>
  list.split(',').flatMap((each) => {
    const [name = ''] = each.trim().split(' as ');
    return name === '' || name.startsWith('type ') ? [] : [name];
  });

/** Where a function, a constant or a class of a module begins. */
const PART = /^(?=(?:export )?(?:async )?(?:function\*?|const|class) )/m;

/** What of a module these names lead to: the rest is left out of a bundle. */
function partsOf(source: string, names: readonly string[]): readonly string[] {
  const byName = new Map(
    source.split(PART).map((part) => [/(?:function\*?|const|class) (\w+)/.exec(part)?.[1] ?? '', part]),
  );
  const reached = new Map<string, string>();
  const reach = (name: string): void => {
    const part = byName.get(name);
    if (part === undefined || reached.has(name)) return;
    reached.set(name, part);
    for (const [, called = ''] of part.matchAll(/\b(\w+)\(/g)) reach(called);
  };
  for (const name of names) reach(name);
  return [...reached.values()];
}

/** The face of a folder hands names on; only the modules that these come from are bundled. */
function originsOf(file: string, names: string): readonly string[] {
  if (!file.endsWith('/index.ts')) return [file];
  const wanted = new Set(namesIn(names));
  return [...readFileSync(join(root, file), 'utf8').matchAll(HANDED_ON)]
    .filter(([, handedOn = '']) => namesIn(handedOn).some((name) => wanted.has(name)))
    .map(([, , origin = '']) => join(dirname(file), origin));
}

/** The table's actions that a program's source can reach, by the files it imports and what it takes of the store. */
function reachable(entry: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const actions = new Set<string>();
  const visit = (file: string, taken: string): void => {
    if (!existsSync(join(root, file))) return;
    const source = readFileSync(join(root, file), 'utf8');
    if (file.startsWith('functions/core/store/')) {
      for (const [, operation = ''] of partsOf(source, namesIn(taken)).join('').matchAll(OPERATION)) {
        for (const action of ACTIONS_OF[operation] ?? []) actions.add(action);
      }
    }
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, names = '', target = ''] of source.matchAll(IMPORT)) {
      for (const origin of originsOf(join(dirname(file), target), names)) visit(origin, names);
    }
  };
  visit(entry, '');
  return actions;
}

const SCAN = 'in the store’s code; only a recount scans';

/** Actions that stand in the code a program shares, and that it never comes to. */
const NEVER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Admit: { Scan: SCAN },
  Settle: {
    GetItem: 'in the store’s code; a webhook is only put down',
    BatchGetItem: 'likewise',
    Query: 'likewise',
    Scan: 'likewise',
    UpdateItem: 'likewise',
  },
  SettleStream: { Scan: SCAN },
  Rollup: { Scan: SCAN },
  Sweep: { Scan: SCAN },
  DirectorySync: { BatchGetItem: 'in the code that hands the directory to other programs' },
  SsmLimits: { Scan: SCAN },
  Console: { Scan: SCAN },
  Notices: { Scan: SCAN, UpdateItem: 'in the stores’ code; a run only reads, and puts its cursor' },
  Requeue: { Scan: SCAN },
  DriftCheck: {},
  Doctor: { UpdateItem: 'in the store of usage; a look only reads, and puts its own item' },
};

let synthesized: Synthesized;
beforeAll(() => {
  synthesized = synthesize(
    DEFAULTS.map((each) => ({
      ...each,
      console: A_CONSOLE,
      parameters: { requeueTokens: '/tollgate/prod/requeue' },
    })),
  );
});

function granted(construct: string): readonly string[] {
  const policies = synthesized
    .resources('AWS::IAM::Policy')
    .filter(([where]) => where.startsWith(`Tollgate-prod-Service/${construct}ProgramRole`));
  const statements: readonly { readonly Effect: string }[] = policies.flatMap(
    ([, { Properties }]) => Properties.PolicyDocument.Statement,
  );
  const actions = JSON.stringify(statements.filter(({ Effect }) => Effect === 'Allow')).matchAll(
    // Not the names of conditions.
    /"dynamodb:(\w+)"(?!:)/g,
  );
  return [...new Set([...actions].map(([, action]) => action ?? ''))];
}

test.each([
  ['Admit', 'admit'],
  ['Settle', 'settle'],
  ['SettleStream', 'settle/stream'],
  ['Rollup', 'rollup'],
  ['Sweep', 'sweep'],
  ['DirectorySync', 'directory-sync'],
  ['SsmLimits', 'ssm-limits'],
  ['Notices', 'notices'],
  ['Requeue', 'requeue'],
  ['Console', 'console'],
  ['DriftCheck', 'drift'],
  ['Doctor', 'doctor'],
])('%s may do with the table what its program does, and nothing else', (construct, folder) => {
  const does = [...reachable(`functions/${folder}/handler.ts`)].filter(
    (action) => NEVER[construct]?.[action] === undefined,
  );
  const reads = construct === 'SettleStream' || construct === 'Rollup' ? STREAM : [];
  expect(granted(construct).toSorted()).toEqual([...does, ...reads].sort());
});
