import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE, ENV_RULES_FILE } from '../../../functions/names.ts';
import { bundleAdmit, bundleEntry } from '../../build/bundle.ts';
import { packRules } from '../../build/pack-rules.ts';
import { type Figure, ratioOfRounds } from './figure.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const ROUNDS = 11;

/** What the ledger uses of the SDK, and nothing else. */
const CLIENT_ALONE = `export {
  BatchGetItemCommand, DynamoDBClient, paginateScan, QueryCommand, TransactionCanceledException, TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';`;

/** Import time of the deployed bundle (client made, routes compiled) against the SDK client alone. */
export async function coldStartFigure(): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cold-'));
  try {
    const admit = await bundleAdmit(join(folder, 'handler.mjs'));
    const client = await bundleEntry(
      { contents: CLIENT_ALONE, resolveDir: root },
      join(folder, 'client.mjs'),
    );
    const rulesFile = join(folder, 'rules.json');
    writeFileSync(rulesFile, JSON.stringify(packRules({ root, force: false, nowMs: Date.now() })));
    const env = {
      ...process.env,
      AWS_REGION: 'us-east-1',
      [ENV_LEDGER_TABLE]: 'bench',
      [ENV_GITLAB_INSTANCE]: 'bench.example.com',
      [ENV_RULES_FILE]: rulesFile,
    };
    const importMs = (file: string) => async (): Promise<number> => {
      const script = `const t=performance.now();await import(${JSON.stringify(file)});process.stdout.write(String(performance.now()-t));process.exit(0)`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
        env,
        timeout: 30_000,
      });
      return Number(stdout);
    };
    await importMs(admit.file)();
    const ratio = await ratioOfRounds(ROUNDS, importMs(admit.file), importMs(client.file));
    return {
      name: 'import of the Lambda bundle ÷ import of the DynamoDB client alone',
      value: ratio.median,
      must: { atMost: 1.3 },
      unit: '×',
      kind: 'ratio',
      range: ratio.range,
      noisy: ratio.noisy,
      note: `${(admit.bytes / 1024).toFixed(0)} KB against ${(client.bytes / 1024).toFixed(0)} KB, both minified, ours split where it loads later (credential providers, parsers); the rules are read right after the import`,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
