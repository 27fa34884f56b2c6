import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { type Figure, ratioOfRounds } from './figure.ts';

const ROUNDS = 5;
const SMALL = 1_000;
const LARGE = 10_000;
/** How many there are of what is not being measured. */
const FEW = 10;
/** Groups of one root, as a company has them. */
const TEAMS_A_DIVISION = 50;

/** A policy of so many rules, each about a group of its own. */
const policyOf = (rules: number): object => ({
  currency: 'EUR',
  prices: {
    version: 'bench',
    classes: [{ name: 'medium', tags: ['medium'], rate_per_minute: '0.02' }],
    default_class: 'medium',
  },
  estimate: { default: '10m' },
  rules: Array.from({ length: rules }, (_, at) => ({
    id: `team-${at}`,
    kind: 'image',
    mode: 'enforce',
    match: { groups: [1 + at], refs: ['main', 'release/*'] },
    allow: [`registry.example.com/team-${at}/**`, '{alpine,node}:*'],
    exempt: [{ jobs: ['lint*'], reason: 'moves next month', until: '2030-01-31' }],
  })),
});

/** A root, divisions below it, and teams below them; a budget and a quota on each. */
function groupsOf(count: number): { readonly directory: object; readonly limits: object } {
  const groups = Array.from({ length: count }, (_, at) => {
    const division = 2 + Math.floor((at - 1) / TEAMS_A_DIVISION) * TEAMS_A_DIVISION;
    const own = 1 + at;
    if (own === 1) return { id: 1, path: 'acme' };
    if (own === division) return { id: own, parent: 1, path: `acme/division-${own}` };
    return { id: own, parent: division, path: `acme/division-${division}/team-${own}` };
  });
  return {
    directory: { groups, projects: [] },
    limits: {
      limits: groups.flatMap(({ id }) => [
        { on: { group: id }, money: '500.00', per: 'month', zone: 'Europe/Berlin' },
        { on: { group: id }, jobs: 20 },
      ]),
    },
  };
}

function loaded(rules: number, groups: number): () => void {
  const policyDocument = policyOf(rules);
  const { directory, limits } = groupsOf(groups);
  return () => {
    const policy = parsePolicy(policyDocument, 'bench');
    const parsed = parseDirectory(directory);
    if (!policy.ok || !parsed.ok) throw new Error('the bench documents are invalid');
    const set = parseLimits(limits, 'bench', policy.value, parsed.value);
    if (!set.ok) throw new Error(`the bench limits are invalid: ${set.problems[0]?.message}`);
  };
}

const timed = (run: () => void, times: number) => async (): Promise<number> => {
  const startedMs = performance.now();
  for (let time = 0; time < times; time += 1) run();
  return (performance.now() - startedMs) / times;
};

/** What ten times the rules, or ten times the groups, add to reading the documents: 10 is linear. */
export async function loadFigures(): Promise<readonly Figure[]> {
  const rules = await ratioOfRounds(ROUNDS, timed(loaded(LARGE, FEW), 1), timed(loaded(SMALL, FEW), 2));
  const groups = await ratioOfRounds(ROUNDS, timed(loaded(FEW, LARGE), 1), timed(loaded(FEW, SMALL), 4));
  return [
    {
      name: 'reading 10 000 rules ÷ 1000 rules (10 is linear)',
      value: rules.median,
      must: { atMost: 20 },
      unit: '×',
      kind: 'ratio',
      range: rules.range,
      noisy: rules.noisy,
    },
    {
      name: 'reading limits and directory of 10 000 groups ÷ 1000 groups (10 is linear)',
      value: groups.median,
      must: { atMost: 20 },
      unit: '×',
      kind: 'ratio',
      range: groups.range,
      noisy: groups.noisy,
    },
  ];
}
