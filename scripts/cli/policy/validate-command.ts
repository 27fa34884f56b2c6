import type { Directory } from '../../../policies/directory.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import {
  DocumentError,
  type LocatedDocument,
  locateLimits,
  policyIn,
  readDirectory,
} from '../../policy/read-documents.ts';
import { collectProblems, readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import { EXIT } from '../../terminal/command.ts';
import { command, toggle } from '../../terminal/define.ts';
import { paintWhen, table } from '../../terminal/table.ts';
import { shortPath } from '../../terminal/user-file.ts';
import { RULES_FLAGS, type RulesFiles, rulesFiles } from '../rules-flags.ts';
import { warningsOf } from './warnings.ts';
import { entryOf } from './written-document.ts';

const policyValidate = command({
  name: 'policy validate',
  about: `Checks the documents before they are deployed: every problem with its file, line and column, and warnings about entries that
lock somebody out or can never match.`,
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
  run: async ({ flags: values }, io) => {
    const documents = readDocuments(rulesFiles(values, io));
    const nowMs = io.nowMs();
    const { policy, limits, directory } = documents;
    /** Violations that would lock out the controller's own deploy; --force reports and ignores them. */
    const lockout = selfLockout(policy.model, limits.model, directory, nowMs);
    const valid = lockout.length === 0 || values.force;
    const warnings = warningsOf(documents, nowMs).map((text) => shortPath(text, io.cwd));
    const { version, currency } = policy.model;
    const rules = policy.model.rules.map(({ id, kind, class: ruleClass, mode, stateless }) => ({
      ...{ id, kind, class: ruleClass, mode, stateless },
    }));
    const { bySubject, personalDefault, groupDefaults } = limits.model;
    const limitCount =
      [...bySubject.values()].flat().length + personalDefault.length + (groupDefaults?.all.length ?? 0);
    const report = {
      ...{ valid, lockout, warnings, policy: { version, currency, rules } },
      limits: { version: limits.model.version, count: limitCount },
      directory: { groups: directory.groupById.size, projects: directory.projectById.size },
    };
    if (values.json) io.out(`${JSON.stringify(report)}\n`);
    else {
      const paint = paintWhen(io.colours);
      for (const text of warnings) io.err(`${paint.warn('warning')} ${text}\n`);
      for (const text of lockout)
        io.err(`${valid ? paint.warn('warning') : paint.bad('locked out')} ${text}\n`);
      if (!valid) io.err(LOCKOUT_REMEDY);
      const rows = rules.map(({ id, kind, class: ruleClass, mode, stateless }) => [
        ...[id, kind, ruleClass, mode],
        stateless ? 'the request alone, also in the fallback' : 'counters of limits',
      ]);
      if (rows.length > 0)
        io.out(`${table(['rule', 'kind', 'class', 'mode', 'decided by'], rows, io.columns, paint.dim)}\n`);
      const { groups, projects } = report.directory;
      io.out(`policy     ${counted(rules.length, 'rule')}; version ${version}
limits     ${counted(limitCount, 'limit')}; version ${limits.model.version}
directory  ${counted(groups, 'group')}, ${counted(projects, 'project')}
${valid ? paint.good('valid') : paint.bad('would lock out its own platform team')}
`);
    }
    return valid ? EXIT.ok : EXIT.invalid;
  },
});

export const commands = [policyValidate];

const LOCKOUT_REMEDY = `The jobs of those who run the controller would be rejected, so nobody could deploy the correction. Take
binds_platform from the rule, change the limit, or correct platform.job if it does not look like your deploy job;
--force if it is meant.
`;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export interface Documents {
  readonly policy: LocatedDocument<Policy>;
  readonly limits: LocatedDocument<LimitSet>;
  readonly directory: Directory;
}

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
  const { currency, prices, estimate } = entryOf(value);
  const parsed = parsePolicy({ currency, prices, estimate, rules: [] }, '');
  return parsed.ok ? parsed.value : undefined;
}
