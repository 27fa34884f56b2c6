/** The rules of the run: a shared cap that is always full, caps of groups below it, and a budget that runs out. */

export const SHARED_CAP = 40;
const GROUP_CAP = 14;
/** Group without a cap of its own, whose money is for some two hundred jobs. */
const POOR_ROOT = 103;
const ROOTS = [100, 101, 102, POOR_ROOT];

export const CHAOS_PROJECTS = [2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008];
export const rootOf = (project: number): number => ROOTS[project % ROOTS.length] ?? POOR_ROOT;
export const pathOfProject = (project: number): string => `root-${rootOf(project)}/project-${project}`;

const POLICY = {
  currency: 'EUR',
  prices: {
    version: 'chaos',
    classes: [{ name: 'small', tags: [], rate_per_minute: '0.10' }],
    default_class: 'small',
  },
  // Longer than any job here runs: what returns by its estimate alone is surely free.
  estimate: { default: '10s', mode: 'default' },
  rules: [
    { id: 'budgets', kind: 'budget', mode: 'enforce' },
    { id: 'jobs-at-once', kind: 'concurrency', mode: 'enforce' },
  ],
};

const LIMITS = {
  limits: [
    { on: 'instance', jobs: SHARED_CAP, when_unreachable: 'room' },
    ...ROOTS.filter((root) => root !== POOR_ROOT).map((group) => ({
      on: { group },
      jobs: GROUP_CAP,
      when_unreachable: 'room',
    })),
    { on: { group: POOR_ROOT }, money: 4, per: 'month' },
  ],
};

/** As the build packs them for functions and relays. */
export const packedRules = (): string =>
  JSON.stringify({
    policy: { version: 'chaos', document: POLICY },
    limits: { version: 'chaos', document: LIMITS },
    directory: {
      groups: ROOTS.map((id) => ({ id, path: `root-${id}` })),
      projects: CHAOS_PROJECTS.map((id) => ({ id, group: rootOf(id), path: pathOfProject(id) })),
    },
  });

/** How much fits on a counter, by its subject; undefined: no limit of this run. */
export function chaosLimitOf(subject: string): number | undefined {
  return subject === `group/${POOR_ROOT}` ? 4_000_000 : chaosCapOf(subject);
}

/** How many jobs may run at once. */
export function chaosCapOf(subject: string): number | undefined {
  if (subject === 'instance') return SHARED_CAP;
  return subject.startsWith('group/') && subject !== `group/${POOR_ROOT}` ? GROUP_CAP : undefined;
}
