import type { MannedRunner } from '../fleet/read-fleet.ts';
import { PRICES_TO_FILL } from '../policy/warnings/prices-to-fill.ts';
import { type JobsUse, useOf } from './month-use.ts';
import type { RanMonth } from './read-month.ts';
import { comment, minutesText, quotedText } from './written-yaml.ts';

/** A set of runners that a price can be given to: those with the same tags on the same kind of machine. */
interface DraftedClass {
  readonly name: string;
  readonly tags: readonly string[];
  readonly runnerIds: readonly number[];
  /** `linux/amd64`; empty if unknown. */
  readonly machine: string;
  /** Another class has the same tags: only ids distinguish them. */
  readonly byId: boolean;
  readonly untagged: boolean;
  readonly use: JobsUse;
}

/** More are no price list that people read. */
const CLASSES_MAX = 60;
const TAGS_MAX = 50;
const NAME_CHARACTERS_MAX = 60;
const ESTIMATE_SECONDS = 600;
/** Fewer runs say nothing about a usual one. */
const RUNS_MIN = 20;

interface PolicyDraftOptions {
  readonly currency: string;
  readonly zone: string;
}

/** The policy as text: classes from the fleet, prices to be filled in, and the rules that switch limits on. */
export function draftPolicy(
  runners: readonly MannedRunner[],
  month: RanMonth,
  { currency, zone }: PolicyDraftOptions,
): string {
  const all = classesOf(runners, month);
  const classes = all
    .slice(0, CLASSES_MAX)
    .sort((a, b) => Number(b.byId) - Number(a.byId) || b.tags.length - a.tags.length);
  const whole = useOf(month.jobs);
  const fallback =
    classes.filter(({ untagged }) => untagged).sort((a, b) => b.use.jobs - a.use.jobs)[0] ??
    classes.toSorted((a, b) => b.use.jobs - a.use.jobs)[0];
  const left = all.length - classes.length;
  return [
    comment(
      'Drafted by tollgate init from the runners of GitLab. The policies/policy.yaml of Tollgate explains every key.',
    ),
    '\n',
    comment('To be chosen: the currency of all amounts.'),
    `currency: ${currency}\n`,
    `zone: ${zone}\n\n`,
    'prices:\n',
    comment(
      `To be filled: GitLab knows no prices, so all of them are 0 and money limits stop nobody. tollgate policy validate warns of each price until the version is another one than ${PRICES_TO_FILL}.`,
      '  ',
    ),
    `  version: ${PRICES_TO_FILL}\n`,
    comment(
      'One class per set of tags and kind of machine, those with more tags first, because the first that matches wins. GitLab tells no executor, CPU or memory: write cpu, memory and overwrites where limits are to count them (tollgate policy import reads them from a config.toml).',
      '  ',
    ),
    ...(left > 0
      ? [
          comment(
            `${left} sets of tags that were used least are left out; they count as default_class.`,
            '  ',
          ),
        ]
      : []),
    '  classes:\n',
    ...(classes.length === 0 ? [NO_RUNNERS] : classes.map(classText)),
    comment(
      fallback === undefined
        ? 'GitLab has no runner yet.'
        : `${fallback.untagged ? 'Its runners take jobs without tags' : 'No runner takes jobs without tags; this class'} and ran ${fallback.use.jobs} jobs.`,
      '  ',
    ),
    `  default_class: ${quotedText(fallback?.name ?? 'any')}\n\n`,
    comment(
      whole.jobs >= RUNS_MIN
        ? `Nine of ten of the ${whole.jobs} jobs were over after so long.`
        : 'Too few jobs ran to tell how long one usually takes.',
    ),
    `estimate: { default: ${minutesText(whole.jobs >= RUNS_MIN ? whole.usualSeconds : ESTIMATE_SECONDS)}, timeout: 1h }\n\n`,
    comment(
      'To be filled: whose jobs deploy Tollgate itself, so that no rule locks them out. tollgate policy validate warns until it is there.',
    ),
    '# platform:\n#   groups: []\n\n',
    comment(
      'The modes of limits stand in limits.yaml, all of them shadow: nobody is rejected. Rules about images, users and the like: tollgate policy import config.toml.',
    ),
    RULES,
  ].join('');
}

const NO_RUNNERS = '    - { name: any, tags: [], rate_per_minute: 0 }\n';

const RULES = `rules:
  - { id: budgets, kind: budget, mode: enforce }
  - { id: jobs-at-once, kind: concurrency, mode: enforce }
`;

function classText({ name, tags, runnerIds, machine, byId, use }: DraftedClass): string {
  const ids = runnerIds.length > 10 ? `${runnerIds.slice(0, 10).join(', ')} and more` : runnerIds.join(', ');
  const estimate = use.jobs >= RUNS_MIN ? `      estimate: ${minutesText(use.usualSeconds)}\n` : '';
  return [
    comment(
      `Runners ${ids}: ${machine === '' ? 'no manager told its machine' : machine}. ${use.jobs} jobs, ${Math.round(use.seconds / 60)} minutes, at most ${use.peakJobs} at once${estimate === '' ? '' : '; nine of ten were over after the estimate'}.`,
      '    ',
    ),
    `    - name: ${quotedText(name)}\n`,
    `      tags: [${byId ? '' : tags.map(quotedText).join(', ')}]\n`,
    ...(byId || tags.length === 0 ? [`      runner_ids: [${runnerIds.join(', ')}]\n`] : []),
    '      rate_per_minute: 0   # to be filled\n',
    estimate,
  ].join('');
}

/** Those that ran most first. */
function classesOf(runners: readonly MannedRunner[], month: RanMonth): readonly DraftedClass[] {
  const jobs = Map.groupBy(month.jobs, ({ runnerId }) => runnerId);
  const sets = Map.groupBy(runners, (each) => JSON.stringify([tagsOf(each), machineOf(each)]));
  const machines = Map.groupBy(
    [...sets.values()].flatMap(([first]) => first ?? []),
    (each) => JSON.stringify(tagsOf(each)),
  );
  const names = new Set<string>(['none']);
  return [...sets.values()]
    .flatMap((same) => {
      const [first] = same;
      if (first === undefined) return [];
      const runnerIds = same.map(({ runner }) => runner.id);
      const tags = tagsOf(first);
      const machine = machineOf(first);
      const byId = (machines.get(JSON.stringify(tags))?.length ?? 0) > 1;
      return {
        tags,
        machine,
        runnerIds,
        byId,
        untagged: same.some(({ runner }) => runner.runUntagged),
        use: useOf(runnerIds.flatMap((id) => jobs.get(id) ?? [])),
      };
    })
    .sort((a, b) => b.use.seconds - a.use.seconds || (a.runnerIds[0] ?? 0) - (b.runnerIds[0] ?? 0))
    .map((each) => ({ ...each, name: nameOf(each.tags, each.byId ? each.machine : '', names) }));
}

const tagsOf = ({ runner }: MannedRunner): readonly string[] => runner.tags.toSorted().slice(0, TAGS_MAX);

/** The machines of all its managers, in one order. */
const machineOf = ({ managers }: MannedRunner): string =>
  [
    ...new Set(
      managers.flatMap(({ platform, architecture }) =>
        platform === undefined ? [] : `${platform}/${architecture ?? 'unknown'}`,
      ),
    ),
  ]
    .sort()
    .join(', ');

/** From the tags, in the letters that names may have; each once. */
function nameOf(tags: readonly string[], machine: string, taken: Set<string>): string {
  const words = `${tags.length === 0 ? 'untagged' : tags.join('-')}${machine === '' ? '' : `-${machine}`}`;
  const plain = words
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, NAME_CHARACTERS_MAX);
  const base = plain === '' ? 'class' : plain;
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  taken.add(name);
  return name;
}
