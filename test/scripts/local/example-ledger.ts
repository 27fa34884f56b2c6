/** The rules that `npm start` begins with, on an empty ledger in memory; what went wrong is told in `troubles`. */
import { fileURLToPath } from 'node:url';
import { silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { rulesInForce } from '../../../functions/core/rules.ts';
import { readLocalRules } from '../../../scripts/local/admit.ts';
import { openLocalLedger } from '../../../scripts/local/ledger-source.ts';
import { parseOptions } from '../../../scripts/local/options.ts';
import type { Screen } from '../../../scripts/local/screen.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export async function exampleLedger() {
  const options = parseOptions([], ROOT);
  const rules = readLocalRules(options);
  const { directory } = rules;
  if (directory === undefined) throw new Error('the example has a directory');
  const place = { whose: () => ({ instance: 'gitlab.local' }), dataDir: undefined, fresh: false };
  const ledger = await openLocalLedger({ ...place, clock: systemClock });
  const beside = { table: ledger.limits, ledger: ledger.ledger, clock: systemClock, log: silentLog };
  const { rulesFor } = rulesInForce(rules, beside);
  const troubles: string[] = [];
  const onProblem = (text: string): void => void troubles.push(text);
  return { rules, directory, ledger, rulesFor, troubles, onProblem };
}

export const silentScreen = (heard: Partial<Screen> = {}): Screen =>
  new Proxy({ figuresEveryMs: 100, ...heard } as Screen, {
    get: (screen, name) => Reflect.get(screen, name) ?? (() => {}),
  });

/** A policy of one price and budgets, to which a test adds rules. Its sums are easily checked by hand. */
export const ONE_PRICE = `
currency: EUR
prices:
  version: "1"
  classes: [{ name: any, tags: [], rate_per_minute: 0.06 }]
  default_class: any
estimate: { default: 10m, timeout: 1h }
rules:
  - { id: budgets, kind: budget, mode: enforce }
`;
