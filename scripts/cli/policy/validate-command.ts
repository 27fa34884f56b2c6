import { selfLockout } from '../../../policies/self-lockout.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { type Paint, paintWhen } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, rulesFiles } from '../rules-flags.ts';
import { shortPath } from '../short-path.ts';
import { type Documents, readDocuments } from './documents.ts';
import { classesText, limitCount, type RuleSummary, ruleSummaries } from './rule-summary.ts';
import { warningsOf } from './warnings/all-warnings.ts';

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

export const validateCommand: Command = {
  name: 'policy validate',
  summary: 'Are policy, limits and directory valid, and do they let the platform team deploy?',
  help: `Checks the documents before they are deployed: every problem with its file, line and column, and beside them
warnings about what is valid and probably not meant.

Usage
  tollgate policy validate [flags]

${RULES_FLAGS_HELP}
  --force              go on although the policy would reject the jobs of those who run the controller
  --json               one JSON object

Exit codes: 0 valid (warnings do not count), 3 invalid, or a policy that would lock out its own platform team`,
  run: async (args, io) => validate(args, io),
};

function validate(args: readonly string[], io: TerminalIo): ExitCode {
  const { values } = readFlags(args, { ...RULES_FLAGS, force: 'switch' });
  const documents = readDocuments(rulesFiles(values, io));
  const nowMs = io.nowMs();
  const { policy, limits, directory } = documents;
  const lockout = selfLockout(policy.model, limits.model, directory, nowMs);
  const valid = lockout.length === 0 || values.force;
  const result: ValidateJson = {
    valid,
    lockout,
    warnings: warningsOf(documents, { nowMs, usageZone: rollupZone(io) }).map((text) =>
      shortPath(text, io.cwd),
    ),
    policy: {
      version: policy.model.version,
      currency: policy.model.currency,
      rules: ruleSummaries(policy.model, limits.model),
    },
    limits: { version: limits.model.version, count: limitCount(limits.model) },
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
