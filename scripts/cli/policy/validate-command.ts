import type { Directory } from '../../../policies/directory.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import type { RuleKind } from '../../../policies/kinds/kinds.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { MODES, type Mode, type RuleClass } from '../../../policies/mode.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Rule } from '../../../policies/rule.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { ASKED_BY } from '../../../policies/unit.ts';
import {
  DocumentError,
  type LocatedDocument,
  locateLimits,
  policyIn,
  readDirectory,
} from '../../policy/read-documents.ts';
import { collectProblems, readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import { EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { toggle } from '../../terminal/flags.ts';
import { type Paint, paintWhen } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, type RulesFiles, type RulesFlags, rulesFiles } from '../rules-flags.ts';
import { shortPath } from '../short-path.ts';
import { fieldsNeeded, warningsOf } from './warnings.ts';

/** Above this, rules are summarised; --json has all. */
const RULES_SHOWN_MAX = 50;

/** Output of `--json`. */
interface ValidateJson {
  readonly valid: boolean;
  /** Violations that would lock out the controller's own deploy; --force reports and ignores them. */
  readonly lockout: readonly string[];
  readonly warnings: readonly string[];
  readonly policy: {
    readonly version: string;
    readonly currency: string;
    readonly rules: readonly RuleSummary[];
  };
  readonly limits: { readonly version: string; readonly count: number };
  readonly directory: { readonly groups: number; readonly projects: number };
}

const policyValidate = command({
  name: 'policy validate',
  about: `Checks the documents before they are deployed: every problem with its file, line and column, and warnings about entries that
are valid and probably wrong.`,
  flags: {
    ...RULES_FLAGS,
    force: toggle('continues although the policy would reject the jobs of the platform team'),
  },
  examples: ['tollgate policy validate --limits limits.yaml'],
  exits: {
    0: 'valid (warnings do not count)',
    1: 'a file cannot be read',
    3: 'wrong usage, invalid, or a policy that would lock out its own platform team',
  },
  run: async ({ flags }, io) => validate(flags, io),
});

export const commands = [policyValidate];

interface ValidateFlags extends RulesFlags {
  readonly force: boolean;
  readonly json: boolean;
}

function validate(values: ValidateFlags, io: TerminalIo): ExitCode {
  const documents = readDocuments(rulesFiles(values, io));
  const nowMs = io.nowMs();
  const { policy, limits, directory } = documents;
  const lockout = selfLockout(policy.model, limits.model, directory, nowMs);
  const valid = lockout.length === 0 || values.force;
  const result: ValidateJson = {
    valid,
    lockout,
    warnings: warningsOf(documents, nowMs, rollupZone(io)).map((text) => shortPath(text, io.cwd)),
    policy: {
      version: policy.model.version,
      currency: policy.model.currency,
      rules: ruleSummaries(policy.model, limits.model),
    },
    limits: { version: limits.model.version, count: allLimits(limits.model).length },
    directory: { groups: directory.groupById.size, projects: directory.projectById.size },
  };
  if (values.json) io.out(`${JSON.stringify(result)}\n`);
  else tell(result, documents, io);
  return valid ? EXIT.ok : EXIT.invalid;
}

function tell(result: ValidateJson, { policy }: Documents, io: TerminalIo): void {
  const paint = paintWhen(io.colours);
  const { rules } = result.policy;
  for (const text of result.warnings) io.err(`${paint.warn('warning')} ${text}\n`);
  for (const text of result.lockout)
    io.err(`${result.valid ? paint.warn('warning') : paint.bad('locked out')} ${text}\n`);
  if (!result.valid) io.err(LOCKOUT_REMEDY);
  io.out(ruleTable(rules, io, paint));
  const { limits, directory } = result;
  io.out(
    [
      `policy     ${counted(rules.length, 'rule')}: ${classesText(policy.model.rules)}; version ${result.policy.version}`,
      `limits     ${counted(limits.count, 'limit')}; version ${limits.version}`,
      `directory  ${counted(directory.groups, 'group')}, ${counted(directory.projects, 'project')}`,
      result.valid ? paint.good('valid') : paint.bad('would lock out its own platform team'),
      '',
    ].join('\n'),
  );
}

const LOCKOUT_REMEDY = `The jobs of those who run the controller would be rejected, so nobody could deploy the correction. Take
binds_platform from the rule, change the limit, or correct platform.job if it does not look like your deploy job;
--force if it is meant.
`;

function ruleTable(rules: readonly RuleSummary[], io: TerminalIo, paint: Paint): string {
  if (rules.length === 0) return '';
  const rows = rules
    .slice(0, RULES_SHOWN_MAX)
    .map((rule) => [rule.id, rule.kind, rule.class, rule.mode, decidedBy(rule)]);
  const columns = ['rule', 'kind', 'class', 'mode', 'decided by'].map((title) => ({ title }));
  const left = rules.length - rows.length;
  const more = left > 0 ? `… and ${left} more (--json lists all)\n` : '';
  return `${table(columns, rows, io.columns, paint.dim)}${more}\n`;
}

const decidedBy = ({ stateless, limits }: RuleSummary): string =>
  stateless ? 'the request alone, also in the fallback' : `counters of ${counted(limits, 'limit')}`;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export interface Documents {
  readonly policy: LocatedDocument<Policy>;
  readonly limits: LocatedDocument<LimitSet>;
  readonly directory: Directory;
}

/**
 * Reads all three documents and reports all problems together.
 *
 * @throws {DocumentError} with the problems of all documents.
 */
function readDocuments(files: RulesFiles): Documents {
  const problems: string[] = [];
  const yaml = collectProblems(problems, () => readYaml(files.policy));
  const policy = yaml && collectProblems(problems, () => policyIn(yaml));
  const directory = collectProblems(problems, () => readDirectory(files.directory));
  const priced = policy?.model ?? (yaml && pricesAlone(yaml));
  const limits = priced && collectProblems(problems, () => locateLimits(files.limits, priced, directory));
  if (priced === undefined)
    problems.push(`${files.limits}: was not checked, since the runner classes are not known`);
  if (policy === undefined || limits === undefined || directory === undefined)
    throw new DocumentError(problems);
  return { policy, limits, directory };
}

/** Limits name runner classes: where only rules are wrong, they can be checked all the same. */
function pricesAlone({ value }: YamlDocument): Policy | undefined {
  if (!isRecord(value)) return undefined;
  const { currency, prices, estimate } = value;
  const parsed = parsePolicy({ currency, prices, estimate, rules: [] }, '');
  return parsed.ok ? parsed.value : undefined;
}

interface RuleSummary {
  readonly id: string;
  readonly kind: RuleKind;
  readonly class: RuleClass;
  readonly mode: Mode;
  /** True if the relay's fallback evaluates it as well. */
  readonly stateless: boolean;
  /** Limits it applies; 0 for a stateless rule. */
  readonly limits: number;
  /** Fields of a request it cannot do without. */
  readonly needs: readonly string[];
}

function ruleSummaries(policy: Policy, limits: LimitSet): readonly RuleSummary[] {
  const byKind: ReadonlyMap<RuleKind, readonly unknown[]> = Map.groupBy(
    allLimits(limits),
    ({ kind }) => ASKED_BY[kind],
  );
  return policy.rules.map((rule) => {
    const { id, kind, class: ruleClass, mode, stateless } = rule;
    const needs = fieldsNeeded(rule, policy);
    return { id, kind, class: ruleClass, mode, stateless, limits: byKind.get(kind)?.length ?? 0, needs };
  });
}

/** Limits of subjects and those by default. */
const allLimits = ({ bySubject, personalDefault, groupDefaults }: LimitSet): readonly Limit[] => [
  ...[...bySubject.values()].flat(),
  ...personalDefault,
  ...(groupDefaults?.all.map(({ limit }) => limit) ?? []),
];

/** `6 security (5 enforce, 1 shadow), 1 cost (enforce)`; classes and modes without rules are left out. */
function classesText(rules: readonly Pick<Rule, 'class' | 'mode'>[]): string {
  const classes: readonly RuleClass[] = ['security', 'capacity', 'cost'];
  return classes
    .flatMap((each) => {
      const own = rules.filter((rule) => rule.class === each);
      const modes = [...MODES].reverse().flatMap((mode) => {
        const count = own.filter((rule) => rule.mode === mode).length;
        return count === 0 ? [] : [`${count} ${mode}`];
      });
      return own.length === 0 ? [] : [`${own.length} ${each} (${modes.join(', ')})`];
    })
    .join(', ');
}
