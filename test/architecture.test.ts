import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Who may import what. Imports follow the request: relay → the admit function's contract → policies.
 * A rule is the longest prefix of the importing file; targets are prefixes of project files or package names.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  // The floor: pure, no packages, no clock, no I/O.
  'policies/': ['policies/'],
  // The runner's regular expressions; a pure function, too.
  'policies/match/regex.ts': ['re2js'],
  'functions/': [
    'functions/',
    'policies/',
    'hono',
    '@aws-sdk/client-dynamodb',
    '@aws-sdk/client-ssm',
    'node:',
  ],
  'functions/names.ts': [],
  'functions/admit/contract.ts': ['policies/'],
  // Only the ledger knows DynamoDB; only handlers may name its client.
  'functions/admit/': [
    'functions/admit/',
    'functions/estimates/',
    'functions/ledger/',
    'functions/metrics/',
    // Pure: where the console has what.
    'functions/notify/console-links.ts',
    'functions/shared/',
    'functions/names.ts',
    'policies/',
    'hono',
    'node:',
  ],
  // Where packed rules and live limits meet.
  'functions/admit/rules-in-force.ts': [
    'functions/admit/decide-deps.ts',
    'functions/ledger/',
    'functions/limits/',
    'functions/shared/',
    'policies/',
  ],
  'functions/admit/deployed-rules.ts': [
    'functions/admit/',
    'functions/directory/',
    'functions/ledger/',
    'functions/limits/',
    'functions/shared/',
  ],
  'functions/settle/': [
    'functions/settle/',
    'functions/admit/decide-deps.ts',
    'functions/gitlab/',
    'functions/ledger/',
    'functions/metrics/',
    'functions/shared/',
    'functions/names.ts',
    'policies/',
    'hono',
    'standardwebhooks',
    'node:',
  ],
  // Evaluates, like the admit function, jobs that nobody asked it about.
  'functions/settle/stream/': [
    'functions/settle/',
    'functions/admit/config.ts',
    'functions/admit/deployed-rules.ts',
    'functions/ledger/',
    'functions/metrics/',
    'functions/names.ts',
    'functions/shared/',
  ],
  'functions/limits/': [
    'functions/limits/',
    'functions/ledger/',
    'functions/shared/',
    'policies/',
    '@aws-sdk/client-dynamodb',
    'node:',
  ],
  // Pure, and the only file that knows how CSV is read.
  'functions/limits/csv/': [
    'functions/limits/csv/',
    'functions/limits/written/',
    'functions/limits/desk/subject-text.ts',
    'functions/limits/limit-set.ts',
    'policies/',
  ],
  'functions/limits/csv/read-rows.ts': ['functions/limits/csv/', 'policies/', 'csv-parse/sync'],
  'functions/directory/': [
    'functions/directory/',
    'functions/gitlab/',
    'functions/ledger/',
    'functions/limits/chunk-parts.ts',
    'functions/limits/limits-error.ts',
    'functions/metrics/',
    'functions/shared/',
    'functions/names.ts',
    'policies/',
    'node:',
  ],
  // What relays are told of it.
  'functions/directory/hand-out': [
    'functions/directory/',
    'functions/admit/contract.ts',
    'functions/admit/decide-deps.ts',
    'policies/',
  ],
  // Keys and items of its own beside the books.
  'functions/directory/dynamo-directory-table.ts': [
    'functions/directory/',
    'functions/ledger/',
    'functions/limits/chunk-parts.ts',
    'functions/limits/limits-error.ts',
    '@aws-sdk/client-dynamodb',
  ],
  'functions/estimates/': ['functions/estimates/', 'functions/ledger/', 'policies/'],
  'functions/rollup/': [
    'functions/rollup/',
    'functions/estimates/',
    'functions/export/export-images.ts',
    'functions/ledger/',
    'functions/shared/',
    'functions/names.ts',
    'policies/',
    'node:',
    'functions/metrics/metrics.ts',
  ],
  // Beside the ledger's the one that writes expressions: sums of other items than counters.
  'functions/rollup/dynamo-rollup-store.ts': [
    'functions/rollup/',
    'functions/estimates/',
    'functions/ledger/',
    '@aws-sdk/client-dynamodb',
  ],
  'functions/rollup/handler.ts': [
    'functions/rollup/',
    'functions/admit/deployed-rules.ts',
    'functions/export/',
    'functions/notify/',
    'functions/thresholds/',
    'functions/ledger/',
    'functions/shared/',
    'policies/',
    'functions/metrics/',
    'functions/names.ts',
  ],
  'functions/thresholds/': [
    'functions/thresholds/',
    'functions/notify/',
    'functions/ledger/',
    'functions/shared/',
    'policies/',
    'node:',
  ],
  // One way to speak to people.
  'functions/notify/': ['functions/notify/', 'policies/', 'node:'],
  'functions/notify/sns-notify.ts': ['functions/notify/', '@aws-sdk/client-sns'],
  // Tells what others keep, and writes nothing but how far it has told.
  'functions/notices/': [
    'functions/notices/',
    'functions/notify/',
    'functions/directory/',
    'functions/ledger/',
    'functions/limits/',
    'functions/rollup/',
    'functions/shared/',
    'functions/names.ts',
    'policies/',
    'node:',
  ],
  'functions/notices/dynamo-cursor-store.ts': [
    'functions/notices/',
    'functions/ledger/',
    'functions/names.ts',
    '@aws-sdk/client-dynamodb',
    'node:',
  ],
  'functions/notices/handler.ts': [
    'functions/notices/',
    'functions/notify/',
    'functions/directory/',
    'functions/ledger/',
    'functions/limits/',
    'functions/rollup/dynamo-rollup-store.ts',
    'functions/shared/',
    'functions/ssm-limits/packed-rules.ts',
  ],
  'functions/sweep/': [
    'functions/sweep/',
    'functions/gitlab/',
    'functions/ledger/',
    'functions/settle/end-of-job.ts',
    'functions/settle/settle-truths.ts',
    'functions/settle/tell-admitted-yet-failed.ts',
    'functions/metrics/',
    'functions/names.ts',
    'functions/shared/',
  ],
  // Charges, like the settle function, jobs that nobody asked about.
  'functions/sweep/handler.ts': [
    'functions/sweep/',
    'functions/admit/deployed-rules.ts',
    'functions/gitlab/',
    'functions/ledger/',
    'functions/metrics/',
    'functions/names.ts',
    'functions/settle/',
    'functions/shared/',
  ],
  // Reads what others keep, and writes through the desk alone.
  'functions/console/': [
    'functions/console/',
    'functions/backtest/',
    'functions/directory/',
    'functions/estimates/',
    'functions/explain/',
    'functions/ledger/ledger.ts',
    'functions/ledger/recount-outcome.ts',
    'functions/limits/',
    'functions/notify/',
    'functions/rollup/',
    'functions/shared/',
    'functions/signin/',
    'functions/names.ts',
    'policies/',
    'hono',
    'node:',
  ],
  // Where everything the console is made of meets.
  'functions/console/handler.ts': [
    'functions/console/',
    'functions/directory/',
    'functions/ledger/',
    'functions/limits/',
    'functions/notify/',
    'functions/rollup/dynamo-rollup-store.ts',
    'functions/shared/',
    'functions/signin/',
    'functions/ssm-limits/packed-rules.ts',
    'hono',
    'node:',
  ],
  // The only files that know how requests are described and checked.
  'functions/console/api/': [
    'functions/console/',
    'functions/limits/',
    'functions/shared/',
    'functions/signin/',
    'policies/',
    '@hono/zod-openapi',
    'hono',
  ],
  // Lives recorded jobs again on counters of its own: evaluates like the admit function, weighs like the ledger.
  'functions/backtest/': [
    'functions/backtest/',
    'functions/admit/judge.ts',
    'functions/ledger/',
    'functions/truth/',
    'policies/',
  ],
  // Pure: one decision told again, for the command line and the console.
  'functions/explain/': [
    'functions/explain/',
    'functions/ledger/ledger.ts',
    'functions/ledger/rejected.ts',
    // Pure: where the console has what.
    'functions/notify/console-links.ts',
    'policies/',
  ],
  'functions/ssm-limits/': [
    'functions/ssm-limits/',
    'functions/directory/',
    'functions/ledger/',
    'functions/limits/',
    'functions/metrics/',
    'functions/shared/',
    'functions/names.ts',
    'policies/',
    '@aws-sdk/client-ssm',
    'yaml',
    'node:',
  ],
  // Keys and items of its own beside the books.
  'functions/ssm-limits/dynamo-marks.ts': [
    'functions/ssm-limits/',
    'functions/ledger/item-version.ts',
    'functions/ledger/ledger.ts',
    'functions/names.ts',
    'policies/document/reading.ts',
    '@aws-sdk/client-dynamodb',
  ],
  'functions/ssm-limits/packed-rules.ts': [
    'functions/ssm-limits/',
    'functions/admit/rules-file.ts',
    'policies/',
    'node:',
  ],
  // Shows what the read models tell, and asks the desk to change it.
  'functions/console/pages/': [
    'functions/console/pages/',
    'functions/console/access.ts',
    'functions/console/acting-user.ts',
    'functions/console/unreadable-request.ts',
    'functions/console/stale-import.ts',
    'functions/rollup/agreement-text.ts',
    'functions/rollup/group-sum.ts',
    'functions/console/view/',
    'functions/console/read/contract.ts',
    'functions/console/read/explain/explained.ts',
    'functions/console/read/rights-of.ts',
    'functions/limits/csv/',
    'functions/limits/written/',
    'functions/limits/desk/',
    'functions/limits/limit-table.ts',
    'functions/signin/answers.ts',
    'functions/signin/user.ts',
    'functions/shared/',
    'policies/',
    'hono',
    'node:',
  ],
  'functions/signin/': [
    'functions/signin/',
    'functions/gitlab/',
    'functions/shared/',
    'functions/names.ts',
    'policies/document/reading.ts',
    'hono',
    'node:',
  ],
  // Keys and items of its own beside the books.
  'functions/signin/dynamo-session-store.ts': [
    'functions/signin/',
    'functions/ledger/item-version.ts',
    'functions/ledger/keys.ts',
    'functions/ledger/table.ts',
    '@aws-sdk/client-dynamodb',
  ],
  'functions/signin/dynamo-user-sessions.ts': [
    'functions/signin/',
    'functions/ledger/table.ts',
    'functions/ledger/table-calls.ts',
    'functions/names.ts',
    '@aws-sdk/client-dynamodb',
  ],
  // The only file that knows OpenID Connect.
  'functions/signin/gitlab-sign-in.ts': ['functions/signin/', 'openid-client', 'node:'],
  // Sealed by the library that openid-client uses for tokens.
  'functions/signin/pending-sign-ins.ts': ['functions/signin/', 'hono', 'jose', 'node:'],
  'functions/watchdog/': [
    'functions/watchdog/',
    'functions/gitlab/',
    'functions/ledger/',
    'functions/shared/',
    'functions/notify/',
    'functions/names.ts',
    'policies/document/reading.ts',
  ],
  // Keys and items of its own beside the books.
  'functions/watchdog/dynamo-watch-table.ts': [
    'functions/watchdog/',
    'functions/ledger/item-version.ts',
    'functions/ledger/single-item.ts',
    'functions/ledger/table-calls.ts',
    'functions/names.ts',
    '@aws-sdk/client-dynamodb',
  ],
  'functions/watchdog/relay-beats.ts': [
    'functions/ledger/table-calls.ts',
    'functions/names.ts',
    '@aws-sdk/client-dynamodb',
  ],
  'functions/ledger/': [
    'functions/ledger/',
    'functions/shared/',
    'policies/',
    '@aws-sdk/client-dynamodb',
    'node:',
  ],
  // Decisions outside the table, and back.
  'functions/export/': [
    'functions/export/',
    'functions/ledger/',
    'functions/shared/',
    'functions/names.ts',
    'policies/document/reading.ts',
    'relay/signing/node-sha256.ts',
    '@aws-sdk/client-dynamodb',
    '@aws-sdk/credential-provider-node',
    '@smithy/signature-v4',
    'node:',
  ],
  'functions/drift/': [
    'functions/drift/',
    'functions/ledger/',
    'functions/metrics/',
    'functions/names.ts',
    'functions/shared/',
    'policies/claim.ts',
    'functions/rollup/',
    'functions/directory/',
  ],
  // The deployment makes the table and filters its stream by the same strings.
  'functions/ledger/item-version.ts': ['functions/ledger/', 'functions/names.ts'],
  'functions/ledger/table.ts': ['functions/names.ts', '@aws-sdk/client-dynamodb'],
  'functions/ledger/keys.ts': ['functions/ledger/', 'functions/names.ts', 'policies/', 'node:'],
  // Pure: what the books say against what GitLab says.
  'functions/truth/': [
    'functions/truth/',
    'functions/gitlab/job-truth.ts',
    'functions/ledger/',
    'functions/sweep/verdict.ts',
    'policies/',
  ],
  'relay/': [
    'relay/',
    'policies/',
    'functions/admit/contract.ts',
    '@bufbuild/protobuf',
    'hono',
    '@hono/node-server',
    'pino',
    'prom-client',
    'node:',
  ],
  'relay/names.ts': [],
  // The only file that may run the function inside the relay's process.
  'relay/inline.ts': ['relay/', 'policies/', 'functions/', 'hono', 'node:'],
  // Synth may not run what it deploys: it knows only the names of the programs.
  'cdk/': ['cdk/', 'functions/names.ts', 'relay/names.ts', 'aws-cdk-lib', 'constructs', 'node:'],
  // Reads the descriptors of a deployment as its relays will.
  'cdk/settings/read-descriptors.ts': ['cdk/settings/', 'relay/wire/deployable-descriptors.ts', 'node:'],
  // The only file that knows gRPC, and the tunnel beside it.
  'relay/router/router-client.ts': ['relay/', '@grpc/grpc-js', 'node:'],
  // The only files that know AWS's signature and where a task's credentials are.
  'relay/signing/': ['relay/', '@smithy/signature-v4', '@aws-sdk/credential-provider-node', 'node:'],
  // One way to write metrics, for functions and relay.
  'functions/metrics/': ['functions/metrics/', 'functions/ledger/ledger.ts', 'functions/names.ts'],
  'functions/metrics/emf-document.ts': ['functions/names.ts'],
  'relay/emf/': ['relay/', 'functions/metrics/emf-document.ts'],
  // What the simulated month is judged by: written from the documents, and never from what it judges.
  'scripts/simulate/expected/': ['scripts/simulate/expected/'],
  // What the relay writes and the watchdog reads.
  'relay/heartbeat/': ['relay/', 'functions/names.ts', 'node:'],
  'relay/router/tunnel.ts': ['relay/', 'ws', 'https-proxy-agent', 'proxy-from-env', 'node:'],
};

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import '([^']+)'/g;

const sources = ['policies', 'functions', 'relay', 'cdk', 'scripts/simulate/expected'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, from, dynamic, bare]) => {
    const target = from ?? dynamic ?? bare ?? '';
    return target.startsWith('.') ? relative(root, join(root, dirname(file), target)) : target;
  });

const ruleFor = (file: string): readonly string[] => {
  const [longest] = Object.keys(ALLOWED)
    .filter((prefix) => file.startsWith(prefix))
    .sort((a, b) => b.length - a.length);
  return longest === undefined ? [] : (ALLOWED[longest] ?? []);
};

test.each(sources)('%s imports only what its place in the request path allows', (file) => {
  const strays = importsOf(file).filter(
    (target) => !ruleFor(file).some((allowed) => target.startsWith(allowed)),
  );
  expect(strays).toEqual([]);
});

test('no file needs itself by way of others', () => {
  const known = new Set(sources);
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file);
    if (at >= 0) circles.push([...way.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const target of new Set(importsOf(file))) if (known.has(target)) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of sources) visit(file, []);
  expect(circles).toEqual([]);
});

test('policies name no clock, no randomness and no process', () => {
  const strays = sources
    .filter((file) => file.startsWith('policies/'))
    .filter((file) =>
      /\bDate\.now\(|new Date\(\)|Math\.random\(|\bprocess\.|\bfetch\(|setTimeout\(/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    );
  expect(strays).toEqual([]);
});

test('process.env is read only where a program starts', () => {
  const strays = sources
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('process.env'))
    .filter((file) => !/\/(handler|main)\.ts$|^cdk\/app\.ts$/.test(file));
  expect(strays).toEqual([]);
});
